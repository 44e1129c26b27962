//! Writing files so that a failure never leaves half of one.

use super::error::WriteError;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What this process is writing, for who wants to stop it.
static UNDER_WAY: Mutex<UnderWay> = Mutex::new(UnderWay { temporary: Vec::new(), complete: 0 });

struct UnderWay {
    /// Files that are not complete.
    temporary: Vec<PathBuf>,
    /// How many files have been completed.
    complete: usize,
}

fn under_way() -> MutexGuard<'static, UnderWay> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the incomplete files of this process, which is about to end, and tells how many were completed before.
///
/// From then on no file is completed: whoever tries waits for the end.
pub fn abandon_writing() -> usize {
    let mut under_way = under_way();
    for temporary in under_way.temporary.drain(..) {
        let _ = fs::remove_file(temporary);
    }
    let complete = under_way.complete;
    std::mem::forget(under_way);
    complete
}

/// Writes a file in one step: all of it, or, on any error, nothing.
///
/// The content goes to a temporary file in the same folder, which takes the name only when it is complete and on disk.
/// `-` is stdout; names that end in `.gz` are compressed.
pub fn write_atomically(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    let fail = |source| WriteError { file: path.to_owned(), source };
    if path == Path::new("-") {
        let mut out = BufWriter::new(io::stdout().lock());
        return content(&mut out).and_then(|()| out.flush()).map_err(fail);
    }
    // A link keeps leading to the same place: what it leads to is replaced. Devices and pipes cannot be.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(m) if m.is_dir() => return Err(fail(io::Error::other("it is a folder"))),
        Ok(m) if !m.is_file() => {
            let device = OpenOptions::new().write(true).open(&target).map_err(fail)?;
            return fill(device, path, content).map(drop).map_err(fail);
        }
        // Renaming would get past the permission.
        Ok(m) if m.permissions().readonly() => return Err(fail(io::ErrorKind::PermissionDenied.into())),
        _ => {}
    }
    remove_orphans(&target);
    let (temporary, file) = create_beside(&target).map_err(fail)?;
    let written =
        fill(file, path, content).and_then(|file| keep_permissions(&target, &file).and_then(|()| file.sync_all()));
    let mut under_way = under_way();
    under_way.temporary.retain(|other| *other != temporary);
    let renamed = written.and_then(|()| fs::rename(&temporary, &target));
    under_way.complete += usize::from(renamed.is_ok());
    renamed.map_err(|e| {
        // Removing is all that can be done; the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        fail(e)
    })
}

fn fill(file: File, path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz")) {
        let mut zip = GzEncoder::new(out, Compression::default());
        content(&mut zip)?;
        out = zip.finish()?;
    } else {
        content(&mut out)?;
    }
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// A new file in the folder of `target`, whose name no other writer has.
fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().ok_or_else(|| io::Error::other("it has no file name"))?;
    for attempt in 0..1000 {
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{attempt}.part", std::process::id()));
        let temporary = target.with_file_name(temporary);
        // Held while the file is made: it is known from its first moment.
        let mut under_way = under_way();
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
            Ok(file) => {
                under_way.temporary.push(temporary.clone());
                return Ok((temporary, file));
            }
        }
    }
    Err(io::Error::other("its folder is full of temporary files ending in .part; remove them"))
}

/// Removes what writers of the same file left behind that were killed: temporary files of processes that are gone.
///
/// Only where processes can be looked up; failing is no harm.
fn remove_orphans(target: &Path) {
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let start = format!(".{}.", name.to_string_lossy());
    let (Ok(entries), true) = (fs::read_dir(folder), Path::new("/proc/self").exists()) else { return };
    for entry in entries.flatten() {
        let entry_name = entry.file_name();
        let middle = entry_name.to_str().and_then(|n| n.strip_prefix(&start)?.strip_suffix(".part"));
        let process = middle.and_then(|middle| middle.split_once('-')?.0.parse::<u32>().ok());
        if process.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn keep_permissions(target: &Path, file: &File) -> io::Result<()> {
    match fs::metadata(target) {
        Ok(old) => file.set_permissions(old.permissions()),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("slopp-atomic-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_writer_left_is_removed() {
        let folder = folder("orphan");
        let path = folder.join("model.psdd");
        // No process has this id; this test's own process does.
        let (orphan, own) = (".model.psdd.4194999-0.part", format!(".model.psdd.{}-7.part", std::process::id()));
        [orphan, &own, ".other.psdd.4194999-0.part"]
            .iter()
            .for_each(|name| fs::write(folder.join(name), b"x").unwrap());
        write_atomically(&path, |out| out.write_all(b"new")).unwrap();
        let expected: Vec<OsString> = [&own, ".other.psdd.4194999-0.part", "model.psdd"].map(OsString::from).into();
        assert_eq!(names(&folder), expected);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_failing_writer_leaves_the_old_file_and_nothing_else() {
        let folder = folder("fail");
        let path = folder.join("model.psdd");
        write_atomically(&path, |out| out.write_all(b"old")).unwrap();
        let error = write_atomically(&path, |out| {
            out.write_all(&vec![b'x'; 1 << 20])?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("model.psdd") && error.contains("nothing was changed"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(&folder), ["model.psdd"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_full_disk_is_an_error() {
        if Path::new("/dev/full").exists() {
            let error = write_atomically(Path::new("/dev/full"), |out| out.write_all(b"x")).unwrap_err();
            assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
        }
    }

    #[test]
    fn names_in_gz_are_compressed_and_folders_refused() {
        let folder = folder("gz");
        let path = folder.join("a.txt.gz");
        write_atomically(&path, |out| out.write_all(b"hello")).unwrap();
        assert_eq!(fs::read(&path).unwrap()[..2], [0x1f, 0x8b]);
        let mut text = String::new();
        super::super::source::open(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
        assert!(write_atomically(&folder, |_| Ok(())).unwrap_err().to_string().contains("folder"));
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert!(write_atomically(&path, |_| Ok(())).unwrap_err().to_string().contains("permission denied"));
        assert!(write_atomically(&folder.join("no/such/file"), |_| Ok(())).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
