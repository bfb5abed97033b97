//! What memory this process uses, and what it can still have.

use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

/// The memory of this process that is its own and in use (resident and not of a file), in bytes;
/// `None` where the operating system does not say.
pub(crate) fn used_memory() -> Option<u64> {
    let [_, resident, shared] = statm()?;
    Some(resident.saturating_sub(shared))
}

/// The memory that this process can still have: what the machine has free, what its control groups
/// leave and what its address space leaves, whichever is least. `None` where nothing is known.
pub(crate) fn free_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok();
    let machine = meminfo.and_then(|text| available(&text));
    let group = std::fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|text| group_memory(Path::new("/sys/fs/cgroup"), &text));
    let space = getrlimit(Resource::As).current.map(|limit| {
        let used = statm().map_or(0, |[size, _, _]| size);
        limit.saturating_sub(used)
    });
    [machine, group, space].into_iter().flatten().min()
}

/// Address space, resident and shared memory, in bytes.
fn statm() -> Option<[u64; 3]> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let page = rustix::param::page_size() as u64;
    let mut pages = text.split_ascii_whitespace().map(str::parse::<u64>);
    let mut next = || Some(pages.next()?.ok()?.saturating_mul(page));
    Some([next()?, next()?, next()?])
}

/// `MemAvailable` of `/proc/meminfo`: what can be had without swapping.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// What the control groups of a process leave it. A group may use no more than any of those around it.
fn group_memory(root: &Path, membership: &str) -> Option<u64> {
    let mut least: Option<u64> = None;
    for line in membership.lines() {
        // `hierarchy:controllers:path`; version 2 has no controllers.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (base, files): (PathBuf, _) = if controllers.is_empty() {
            (root.to_owned(), ("memory.max", "memory.current"))
        } else if controllers.split(',').any(|c| c == "memory") {
            let files = ("memory.limit_in_bytes", "memory.usage_in_bytes");
            (root.join("memory"), files)
        } else {
            continue;
        };
        // Within a container the path may be that of the host: the root is then the group itself.
        let own = base.join(path.trim_start_matches('/'));
        for folder in own.ancestors().take_while(|f| f.starts_with(&base)) {
            if let Some(left) = left_in(folder, files) {
                least = Some(least.map_or(left, |l| l.min(left)));
            }
        }
    }
    least
}

/// The limit of one group without what it uses; pages of files that can be dropped do not count as
/// used.
fn left_in(folder: &Path, (limit, usage): (&str, &str)) -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    // Version 2 says `max`, version 1 a number that no machine has.
    let limit = number(limit).filter(|&limit| limit < 1 << 60)?;
    let stat = read("memory.stat").unwrap_or_default();
    let droppable = stat
        .lines()
        .find_map(|line| line.strip_prefix("inactive_file "))
        .and_then(|n| n.trim().parse::<u64>().ok());
    let used = number(usage)?.saturating_sub(droppable.unwrap_or(0));
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_says_is_read() {
        let text = "MemTotal:  24684052 kB\nMemFree: 1 kB\nMemAvailable:   23692300 kB\n";
        assert_eq!(available(text), Some(23_692_300 * 1024));
        assert_eq!(available("MemTotal: 3 kB\n"), None);
        assert_eq!(available("MemAvailable: many kB\n"), None);
    }

    #[test]
    fn the_tightest_group_counts() {
        let root = std::env::temp_dir().join(format!("iolite-groups-{}", std::process::id()));
        let inner = root.join("outer/inner");
        std::fs::create_dir_all(&inner).unwrap();
        let write = |folder: &Path, name: &str, text: &str| {
            std::fs::write(folder.join(name), text).unwrap();
        };
        write(&inner, "memory.max", "max\n");
        write(&inner, "memory.current", "500\n");
        write(&root.join("outer"), "memory.max", "1000\n");
        write(&root.join("outer"), "memory.current", "700\n");
        write(
            &root.join("outer"),
            "memory.stat",
            "anon 5\ninactive_file 100\n",
        );
        assert_eq!(group_memory(&root, "0::/outer/inner\n"), Some(400));
        assert_eq!(group_memory(&root, "0::/elsewhere\n"), None);
        // Version 1, beside controllers that say nothing of memory.
        let old = root.join("memory/job");
        std::fs::create_dir_all(&old).unwrap();
        write(&old, "memory.limit_in_bytes", "300\n");
        write(&old, "memory.usage_in_bytes", "50\n");
        let membership = "3:cpu,cpuacct:/job\n4:memory:/job\n";
        assert_eq!(group_memory(&root, membership), Some(250));
        write(&old, "memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(group_memory(&root, membership), None);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_uses_memory() {
        let before = used_memory().unwrap();
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = used_memory().unwrap();
        assert!(after >= before + (48 << 20), "{before} {after}");
        drop(block);
        assert!(free_memory().is_some());
    }
}
