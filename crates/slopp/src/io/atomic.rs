//! Writing files so that a failure never leaves half of one.

use super::error::WriteError;
use crate::names::visible_lines;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What this process is writing, so that it can be stopped.
static UNDER_WAY: Mutex<UnderWay> = Mutex::new(UnderWay { temporary: Vec::new(), complete: 0 });

/// A temporary file that was changed more lately is left alone.
const STALE: Duration = Duration::from_secs(3600);

struct UnderWay {
    /// Files that are not complete.
    temporary: Vec<PathBuf>,
    /// How many files have been completed.
    complete: usize,
}

fn under_way() -> MutexGuard<'static, UnderWay> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the incomplete files of this process, which is about to end, and returns how many were completed before.
///
/// From then on no file is completed: a thread that tries waits for the process to end.
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
/// Names of stdout ([`is_stdout`]) write there, and on a terminal characters that act on it are escaped. Names that end
/// in `.gz` are compressed.
pub fn write_atomically(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    write_together([(path, content)])
}

/// Writes several files in one step, as [`write_atomically`] writes one: all of them or, on any error, none.
///
/// Temporary files are complete before the first takes its name. If one then cannot, those before it are put back; the
/// error lists those that could not. Two names of one file are an error before anything is written.
pub fn write_together<'a, C: FnOnce(&mut dyn Write) -> io::Result<()>>(
    files: impl IntoIterator<Item = (&'a Path, C)>,
) -> Result<(), WriteError> {
    let files: Vec<(&Path, C)> = files.into_iter().collect();
    let paths: Vec<&Path> = files.iter().map(|(path, _)| *path).collect();
    check_apart(&paths)?;
    let mut complete = Vec::new();
    for (path, content) in files {
        match write_beside(path, content) {
            Ok(file) => complete.extend(file),
            Err(source) => {
                discard(&complete, &mut under_way());
                return Err(WriteError { file: path.to_owned(), source, replaced: Vec::new() });
            }
        }
    }
    take_names(&complete)
}

/// Checks that a file can be written. Permissions alone do not show it, so a file is made next to it and removed.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let attempt = || match Place::of(path)? {
        Place::File(target) => {
            let mut under_way = under_way();
            let (temporary, _) = create_beside(&target, &mut under_way)?;
            under_way.temporary.retain(|other| *other != temporary);
            fs::remove_file(temporary)
        }
        _ => Ok(()),
    };
    attempt().map_err(|source| WriteError { file: path.to_owned(), source, replaced: Vec::new() })
}

/// Refuses two names of one file: what is written last would be all that is left.
fn check_apart(paths: &[&Path]) -> Result<(), WriteError> {
    let mut seen: Vec<(&Path, PathBuf)> = Vec::new();
    for &path in paths {
        let fault = |source| WriteError { file: path.to_owned(), source, replaced: Vec::new() };
        let Place::File(target) = Place::of(path).map_err(fault)? else { continue };
        let target = without_detours(target);
        if let Some((other, _)) = seen.iter().find(|(_, other)| *other == target || is_linked(other, &target)) {
            return Err(fault(io::Error::other(format!("it is the same file as {}", other.display()))));
        }
        seen.push((path, target));
    }
    Ok(())
}

/// The same file by a name without links and `..` in its folder; the file need not be there.
fn without_detours(target: PathBuf) -> PathBuf {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(folder), target.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => target,
    }
}

/// Whether two names are hard links to one file.
#[cfg(unix)]
fn is_linked(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    matches!((fs::metadata(a), fs::metadata(b)), (Ok(a), Ok(b)) if (a.dev(), a.ino()) == (b.dev(), b.ino()))
}

/// This cannot be known.
#[cfg(not(unix))]
fn is_linked(_: &Path, _: &Path) -> bool {
    false
}

/// Whether a name is that of stdout: `-`, `/dev/stdout`, `/dev/fd/1`, `/proc/self/fd/1`, or a link to one of these.
///
/// The system resolves them to the file behind stdout, which must not be replaced: others write to it, too.
pub fn is_stdout(path: &Path) -> bool {
    let is_name =
        |path: &Path| ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name));
    if path == Path::new("-") || is_name(path) {
        return true;
    }
    let mut end = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&end) else { return false };
        end = end.parent().unwrap_or(Path::new("")).join(next);
        if is_name(&end) {
            return true;
        }
    }
    false
}

/// A terminal, which shows characters that would act on it instead.
struct Visible<W: Write> {
    terminal: W,
    /// The beginning of a line.
    line: Vec<u8>,
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|&byte| byte == b'\n') {
            let rest = self.line.split_off(end + 1);
            let lines = std::mem::replace(&mut self.line, rest);
            self.terminal.write_all(visible_lines(&String::from_utf8_lossy(&lines)).as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.terminal.write_all(visible_lines(&String::from_utf8_lossy(&rest)).as_bytes())?;
        self.terminal.flush()
    }
}

/// More links than this in a row lead in a circle.
const MOST_LINKS: usize = 40;

/// Where a name leads.
enum Place {
    Stdout,
    /// A device or a pipe, which cannot be replaced.
    Device(PathBuf),
    /// A file, perhaps a new one.
    File(PathBuf),
}

impl Place {
    fn of(path: &Path) -> io::Result<Place> {
        if is_stdout(path) {
            return Ok(Place::Stdout);
        }
        // A link keeps leading to the same place: what it leads to is replaced.
        match fs::metadata(path) {
            Ok(m) if m.is_dir() => Err(io::Error::other("it is a folder")),
            Ok(m) if !m.is_file() => Ok(Place::Device(path.to_owned())),
            // Renaming would get past the permission.
            Ok(m) if m.permissions().readonly() => Err(io::ErrorKind::PermissionDenied.into()),
            Ok(_) => Ok(Place::File(fs::canonicalize(path)?)),
            Err(_) => Ok(Place::File(end_of_links(path)?)),
        }
    }
}

/// What links lead to that is not there yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&end) {
            Ok(next) => end = end.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(end),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

/// A complete file that has yet to take its name.
struct Complete {
    path: PathBuf,
    target: PathBuf,
    temporary: PathBuf,
    /// Locked, so that nobody takes it for what a killed writer left.
    _file: File,
}

/// Writes a temporary file, or all there is to write to what cannot be replaced.
fn write_beside(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Option<Complete>> {
    let target = match Place::of(path)? {
        Place::Stdout => {
            let stdout = io::stdout();
            let is_terminal = stdout.is_terminal();
            let mut out = BufWriter::new(stdout.lock());
            if is_terminal {
                let mut out = Visible { terminal: out, line: Vec::new() };
                return content(&mut out).and_then(|()| out.flush()).map(|()| None);
            }
            return content(&mut out).and_then(|()| out.flush()).map(|()| None);
        }
        Place::Device(device) => {
            return fill(OpenOptions::new().write(true).open(device)?, path, content).map(|_| None);
        }
        Place::File(target) => target,
    };
    remove_orphans(&target);
    let (temporary, file) = create_beside(&target, &mut under_way())?;
    let written = fill(file, path, content)
        .and_then(|file| keep_permissions(&target, &file).and_then(|()| file.sync_all()).map(|()| file));
    match written {
        Ok(file) => Ok(Some(Complete { path: path.to_owned(), target, temporary, _file: file })),
        Err(error) => {
            let mut under_way = under_way();
            under_way.temporary.retain(|other| *other != temporary);
            // Removing is all that can be done; the first error is returned.
            let _ = fs::remove_file(&temporary);
            Err(error)
        }
    }
}

/// Removes temporary files.
fn discard(files: &[Complete], under_way: &mut UnderWay) {
    under_way.temporary.retain(|other| !files.iter().any(|file| file.temporary == *other));
    for file in files {
        let _ = fs::remove_file(&file.temporary);
    }
}

/// Gives complete files their names; ending the process waits for it.
fn take_names(files: &[Complete]) -> Result<(), WriteError> {
    let mut under_way = under_way();
    // One file needs no way back.
    let old = |file: &Complete| (files.len() > 1).then(|| keep_old(&file.target)).flatten();
    let old: Vec<Option<PathBuf>> = files.iter().map(old).collect();
    let is_new: Vec<bool> = files.iter().map(|file| !file.target.exists()).collect();
    let mut result = Ok(());
    for (i, file) in files.iter().enumerate() {
        if let Err(source) = fs::rename(&file.temporary, &file.target) {
            discard(&files[i..], &mut under_way);
            let is_back = |i: usize| match &old[i] {
                Some(old) => fs::rename(old, &files[i].target).is_ok(),
                None => is_new[i] && fs::remove_file(&files[i].target).is_ok(),
            };
            let replaced = (0..i).filter(|&i| !is_back(i)).map(|i| files[i].path.clone()).collect();
            result = Err(WriteError { file: file.path.clone(), source, replaced });
            break;
        }
        under_way.temporary.retain(|other| *other != file.temporary);
    }
    old.iter().flatten().for_each(|old| drop(fs::remove_file(old)));
    under_way.complete += if result.is_ok() { files.len() } else { 0 };
    result
}

/// Keeps a file under a second name: a link or, where there are none, a copy.
fn keep_old(target: &Path) -> Option<PathBuf> {
    let copy = |name: &Path| {
        let mut old = File::open(target)?;
        let mut new = OpenOptions::new().write(true).create_new(true).open(name)?;
        let copied = io::copy(&mut old, &mut new).and_then(|_| keep_permissions(target, &new));
        copied.inspect_err(|_| drop(fs::remove_file(name)))
    };
    let link = first_free(target, |name| fs::hard_link(target, name));
    link.or_else(|error| if target.is_file() { first_free(target, copy) } else { Err(error) })
        .ok()
        .map(|(name, ())| name)
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

/// A new file in the folder of `target`, whose name no other writer has, registered for removal if the process ends.
fn create_beside(target: &Path, under_way: &mut UnderWay) -> io::Result<(PathBuf, File)> {
    let create = |name: &Path| OpenOptions::new().write(true).create_new(true).open(name);
    let (temporary, file) = first_free(target, create)?;
    under_way.temporary.push(temporary.clone());
    // Some file systems know no locks; nothing is removed there.
    let _ = file.try_lock();
    Ok((temporary, file))
}

/// Makes something under the first temporary name for `target` that is free.
fn first_free<T>(target: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let name = target.file_name().ok_or_else(|| io::Error::other("it has no file name"))?;
    for attempt in 0..1000 {
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{attempt}.part", std::process::id()));
        let temporary = target.with_file_name(temporary);
        match make(&temporary) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|made| (temporary, made)),
        }
    }
    Err(io::Error::other("its folder is full of temporary files ending in .part; remove them"))
}

/// Removes what writers of the same file left behind that were killed.
///
/// A writer locks its file as long as it lives, also in another container or on another machine, where its process id
/// says nothing here. A new file is left alone: its writer may be about to lock it. Failing does no harm.
fn remove_orphans(target: &Path) {
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let start = format!(".{}.", name.to_string_lossy());
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let entry_name = entry.file_name();
        let middle = entry_name.to_str().and_then(|n| n.strip_prefix(&start)?.strip_suffix(".part"));
        let process = middle.and_then(|middle| middle.split_once('-')?.0.parse::<u32>().ok());
        if process.is_some() && is_stale(&entry.path()).unwrap_or(false) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether nobody writes a temporary file any more.
fn is_stale(temporary: &Path) -> io::Result<bool> {
    let file = OpenOptions::new().write(true).open(temporary)?;
    let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
    Ok(age >= STALE && file.try_lock().is_ok())
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
        // No process here has this id: that of a writer in another container says nothing.
        let part = |name: &str, age: u64| {
            let file = File::create_new(folder.join(format!(".{name}.4194999-{age}.part"))).unwrap();
            file.set_modified(std::time::SystemTime::now() - Duration::from_secs(age)).unwrap();
            file
        };
        for (name, age) in [("model.psdd", 4000), ("model.psdd", 10), ("other.psdd", 4000)] {
            part(name, age);
        }
        let live = part("model.psdd", 9000);
        live.lock().unwrap();
        write_atomically(&folder.join("model.psdd"), |out| {
            out.write_all(b"new")?;
            let own = names(&folder)
                .into_iter()
                .find(|name| name.to_string_lossy().contains(&format!(".{}-", std::process::id())));
            assert!(File::open(folder.join(own.unwrap())).unwrap().try_lock().is_err(), "a live writer holds a lock");
            Ok(())
        })
        .unwrap();
        let left = [
            ".model.psdd.4194999-10.part",
            ".model.psdd.4194999-9000.part",
            ".other.psdd.4194999-4000.part",
            "model.psdd",
        ];
        assert_eq!(names(&folder), left.map(OsString::from));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn two_names_of_one_file_are_not_written_together() {
        let folder = folder("one-file");
        fs::create_dir(folder.join("sub")).unwrap();
        let name = |name: &str| folder.join(name);
        let write = |a: &str, b: &str| {
            let content = |text: &'static str| move |out: &mut dyn Write| out.write_all(text.as_bytes());
            let [a, b] = [name(a), name(b)];
            write_together([(a.as_path(), content("one")), (b.as_path(), content("two"))])
        };
        std::os::unix::fs::symlink("a", name("link")).unwrap();
        for (one, other) in [("a", "link"), ("new", "new"), ("new", "sub/../new")] {
            let told = write(one, other).unwrap_err().to_string();
            assert!(told.contains("same file as") && told.contains("nothing was changed"), "{told}");
        }
        assert_eq!(names(&folder), ["link", "sub"], "before anything is written");
        write("a", "b").unwrap();
        fs::hard_link(name("a"), name("hard")).unwrap();
        for (one, other) in [("a", "link"), ("hard", "a")] {
            assert!(write(one, other).unwrap_err().to_string().contains("same file as"));
        }
        assert_eq!(fs::read(name("a")).unwrap(), b"one");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_terminal_shows_what_would_act_on_it() {
        let mut shown = Vec::new();
        let mut out = Visible { terminal: &mut shown, line: Vec::new() };
        // Characters of several bytes may come in parts.
        for part in [&b"a,\xc3"[..], b"\xa9\x1b[31m\nb", b",\x07"] {
            out.write_all(part).unwrap();
        }
        out.flush().unwrap();
        assert_eq!(String::from_utf8(shown).unwrap(), "a,é\\u{1b}[31m\nb,\\u{7}");
    }

    #[test]
    fn files_are_written_together_or_not_at_all() {
        let folder = folder("together");
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.join(name));
        fs::write(&a, b"old").unwrap();
        let write = |in_the_way: bool| {
            let c = &c;
            let content = |path: &PathBuf| {
                let blocks = in_the_way && path == c;
                move |out: &mut dyn Write| {
                    // A folder takes the name of the last file before it can.
                    if blocks {
                        fs::create_dir_all(c.join("folder"))?;
                    }
                    out.write_all(b"new")
                }
            };
            write_together([&a, &b, c].map(|path| (path.as_path(), content(path))))
        };
        let error = write(true).unwrap_err();
        assert!(error.to_string().ends_with("; nothing was changed") && error.file == c, "{error}");
        assert_eq!((fs::read(&a).unwrap(), names(&folder)), (b"old".to_vec(), ["a", "c"].map(OsString::from).to_vec()));
        fs::remove_dir_all(&c).unwrap();
        write(false).unwrap();
        assert_eq!(names(&folder), ["a", "b", "c"]);
        assert!([a, b, c].iter().all(|path| fs::read(path).unwrap() == b"new"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_wherever_they_lead() {
        use std::os::unix::fs::symlink;
        let folder = folder("links");
        fs::create_dir(folder.join("there")).unwrap();
        for (to, link) in [("there/new", "first"), ("first", "second"), ("circle", "circle")] {
            symlink(to, folder.join(link)).unwrap();
        }
        write_atomically(&folder.join("second"), |out| out.write_all(b"x")).unwrap();
        assert_eq!(fs::read(folder.join("there/new")).unwrap(), b"x");
        assert_eq!(fs::read_link(folder.join("second")).unwrap(), Path::new("first"));
        let error = write_atomically(&folder.join("circle"), |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("circle"), "{error}");
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
        super::super::source::Source::from(&path).open().unwrap().read_to_string(&mut text).unwrap();
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
