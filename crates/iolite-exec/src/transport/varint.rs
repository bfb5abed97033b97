//! Unsigned numbers of seven bits a byte, the least significant first, as Protocol Buffers and MQTT write lengths.

/// The number at the beginning of the bytes, and how many bytes it takes; `None` where more must come.
pub(crate) fn read(bytes: &[u8], most: usize) -> Result<Option<(u64, usize)>, String> {
    let mut number = 0u64;
    for (i, &byte) in bytes.iter().take(most).enumerate() {
        let bits = u64::from(byte & 0x7f);
        let shifted = bits << (7 * i);
        if shifted >> (7 * i) != bits {
            return Err("a length of more than 64 bits".into());
        }
        number |= shifted;
        if byte & 0x80 == 0 {
            return Ok(Some((number, i + 1)));
        }
    }
    if bytes.len() < most {
        return Ok(None);
    }
    Err(format!("a length of more than {most} bytes"))
}

/// Appends a number.
pub(crate) fn write(mut number: u64, output: &mut Vec<u8>) {
    while number >= 0x80 {
        output.push(number as u8 | 0x80);
        number >>= 7;
    }
    output.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_comes_back(number in prop::num::u64::ANY, shift in 0u32..64, rest in prop::collection::vec(any::<u8>(), 0..3)) {
            let number = number >> shift;
            let mut bytes = Vec::new();
            write(number, &mut bytes);
            let length = bytes.len();
            for cut in 0..length {
                prop_assert_eq!(read(&bytes[..cut], 10), Ok(None));
            }
            bytes.extend(rest);
            prop_assert_eq!(read(&bytes, 10), Ok(Some((number, length))));
        }
    }

    #[test]
    fn what_does_not_end_is_an_error() {
        assert!(read(&[0x80; 10], 10).is_err());
        assert!(read(&[0xff; 4], 4).is_err());
        assert_eq!(read(&[0xff; 3], 4), Ok(None));
        // The tenth byte has one bit of a number of 64.
        let mut bytes = [0xff; 10];
        bytes[9] = 2;
        assert!(read(&bytes, 10).is_err());
    }
}
