//! A process that is about to end leaves no half of a file. Alone in its process: nothing can be written after it.

use slopp::io::{abandon_writing, write_atomically};
use std::sync::mpsc::channel;

#[test]
fn what_is_not_complete_is_removed() {
    let folder = std::env::temp_dir().join(format!("slopp-abandon-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    write_atomically(&folder.join("done.csv"), |out| out.write_all(b"all of it")).unwrap();
    let (begun, wait) = channel();
    let (go_on, told) = channel::<()>();
    let half = folder.join("half.csv");
    std::thread::spawn(move || {
        write_atomically(&half, |out| {
            out.write_all(&vec![b'x'; 1 << 20])?;
            begun.send(()).unwrap();
            told.recv().unwrap();
            Ok(())
        })
    });
    wait.recv().unwrap();
    let files = || {
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert!(files()[0].ends_with(".part"), "{:?}", files());
    assert_eq!(abandon_writing(), 1);
    go_on.send(()).unwrap();
    assert_eq!(files(), ["done.csv"]);
    std::fs::remove_dir_all(&folder).unwrap();
}
