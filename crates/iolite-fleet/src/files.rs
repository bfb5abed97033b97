//! Files that travel by content hash.

use std::path::{Component, Path};

use async_nats::jetstream::object_store::ObjectStore;
use sha2::{Digest, Sha256};

use crate::server::Server;
use crate::{Description, FleetError, TravellingFile};

/// SHA-256 of bytes, in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    let sum = Sha256::digest(bytes);
    hexadecimal(&sum)
}

/// Bytes in hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}

/// Whether a path stays below the folder that it is relative to, and is the shortest text for its place.
pub fn is_plain_path(path: &str) -> bool {
    let normal = |component| matches!(component, Component::Normal(_));
    let joined: Vec<&str> = path.split('/').collect();
    !path.is_empty()
        && path.len() <= 512
        && !path.contains(['\0', '\\', '\n'])
        && joined.iter().all(|part| !part.is_empty() && *part != ".")
        && Path::new(path).components().all(normal)
}

/// Stores what is not stored yet.
pub(crate) async fn store(
    objects: &ObjectStore,
    hash: &str,
    bytes: &[u8],
) -> Result<(), FleetError> {
    if let Ok(info) = objects.info(hash).await
        && info.size == bytes.len()
        && !info.deleted
    {
        return Ok(());
    }
    let mut reader = bytes;
    let put = objects.put(hash, &mut reader).await;
    put.map_err(|e| FleetError::server("storing a file", e))?;
    Ok(())
}

/// Reads an object of at most `most` bytes, and checks that it is the one with this hash.
pub(crate) async fn fetch(server: &Server, hash: &str, most: usize) -> Result<Vec<u8>, FleetError> {
    let bytes = server.object(hash, most).await?;
    if digest(&bytes) != hash {
        return Err(FleetError::content(format!(
            "the server's file {hash} has another content than its name says"
        )));
    }
    Ok(bytes)
}

/// Writes the files of a campaign below `folder`.
pub(crate) async fn unpack(
    server: &Server,
    description: &Description,
    folder: &Path,
) -> Result<(), FleetError> {
    for file in &description.files {
        let place = folder.join(&file.path);
        let bytes = fetch(server, &file.sha256, file.bytes as usize).await?;
        let written = write(&place, &bytes, file);
        written.map_err(|e| FleetError::Input(format!("{}: {e}", place.display())))?;
    }
    Ok(())
}

fn write(place: &Path, bytes: &[u8], file: &TravellingFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if let Some(parent) = place.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(place, bytes)?;
    if file.executable {
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_their_folder() {
        for plain in ["a", "a/b.iol", "examples/x y/ä.toml", "..a"] {
            assert!(is_plain_path(plain), "{plain}");
        }
        for wrong in [
            "",
            "/",
            "/etc/passwd",
            "../a",
            "a/../b",
            "a//b",
            "./a",
            "a/.",
            "a\\b",
            "a\0b",
            "a/",
        ] {
            assert!(!is_plain_path(wrong), "{wrong:?}");
        }
        assert!(!is_plain_path(&"a".repeat(1000)));
    }

    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(
            digest(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
