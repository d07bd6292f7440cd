use tempfile::{TempDir, tempdir};

use super::*;
use crate::TensorFile;

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

fn tensor<T: Stored>(number: f64) -> NewTensor {
    let x = Matrix::from_element(2, 3, T::of(number));
    NewTensor::new("x", &[2, 3], [&x]).unwrap()
}

#[test]
fn what_was_saved_is_read_back() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    save(&path, &[tensor::<f64>(0.1)], Existing::Keep).unwrap();
    assert_eq!(TensorFile::open(&path).unwrap().matrix("x").unwrap()[(1, 2)], 0.1);
    assert_eq!(names(&folder), ["x.safetensors"]);

    save(&path, &[tensor::<f32>(0.1)], Existing::Replace).unwrap();
    let nearest = f64::from(0.1f32);
    assert_eq!(TensorFile::open(&path).unwrap().matrix("x").unwrap()[(1, 2)], nearest);
    assert_eq!(names(&folder), ["x.safetensors"]);
}

#[test]
fn nothing_is_lost_and_nothing_left_behind() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "mine").unwrap();
    let refused = |path: &Path, existing| {
        let error = save(path, &[tensor::<f64>(0.0)], existing).unwrap_err();
        let folder = folder.path().display().to_string();
        error.to_string().replace(&folder, "…").replace('\\', "/")
    };
    insta::assert_snapshot!(refused(&path, Existing::Keep), @"…/notes.txt exists already, and is left as it is");
    insta::assert_snapshot!(refused(folder.path(), Existing::Replace), @"cannot write …: it is no plain file");
    insta::assert_snapshot!(refused(&folder.path().join("no/x"), Existing::Keep), @"cannot write …/no/x: there is no folder …/no");
    insta::assert_snapshot!(refused(Path::new("/"), Existing::Replace), @"cannot write /: it names no file");
    insta::assert_snapshot!(refused(&path.join("x"), Existing::Keep), @"cannot write …/notes.txt/x: there is no folder …/notes.txt");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert_eq!(names(&folder), ["notes.txt"]);
}

#[test]
#[cfg(unix)]
fn a_command_writes_over_nothing_that_it_reads() {
    let folder = tempdir().unwrap();
    let [a, b, link, new] =
        ["a", "b", "link", "new"].map(|name| folder.path().join(name));
    fs::write(&a, "1").unwrap();
    fs::write(&b, "2").unwrap();
    std::os::unix::fs::symlink("a", &link).unwrap();
    let check = |output: &Path, existing| {
        // An input that is missing is not the output's fault.
        let inputs = [a.as_path(), Path::new("no/such/input")];
        let error = check_output(output, existing, inputs).err()?;
        Some(error.to_string().replace(&folder.path().display().to_string(), "…"))
    };
    for existing in [Existing::Keep, Existing::Replace] {
        assert_eq!(check(&new, existing), None);
        insta::allow_duplicates! {
            insta::assert_snapshot!(check(&a, existing).unwrap(), @"…/a is read by this command and is not written over: name another file with --output");
            insta::assert_snapshot!(check(&link, existing).unwrap(), @"…/link is read by this command and is not written over: name another file with --output");
            insta::assert_snapshot!(check(folder.path(), existing).unwrap(), @"cannot write …: it is no plain file");
        }
    }
    assert_eq!(check(&b, Existing::Replace), None);
    insta::assert_snapshot!(check(&b, Existing::Keep).unwrap(), @"…/b exists already, and is left as it is: name another file with --output, or write over it with --force");
}

#[test]
fn numbers_that_do_not_fill_the_shape_are_refused() {
    let x = Matrix::from_element(2, 3, 0.0);
    insta::assert_snapshot!(NewTensor::new("x", &[2, 2], [&x]).unwrap_err(), @"x of shape (2, 2) was given 6 numbers");
}

#[test]
fn of_many_who_save_to_one_new_file_one_succeeds() {
    let folder = tempdir().unwrap();
    for round in 0..20 {
        let path = &folder.path().join(format!("{round}.safetensors"));
        let begin = std::sync::Barrier::new(8);
        let one = &|i: u8| {
            begin.wait();
            save(path, &[tensor::<f64>(i.into())], Existing::Keep).map(|()| i)
        };
        let saved: Vec<_> = std::thread::scope(|scope| {
            let savers: Vec<_> = (0..8).map(|i| scope.spawn(move || one(i))).collect();
            savers.into_iter().map(|saver| saver.join().unwrap()).collect()
        });
        let (won, lost): (Vec<_>, Vec<_>) = saved.into_iter().partition(Result::is_ok);
        assert!(
            lost.iter().all(|it| matches!(it, Err(Error::Exists { .. }))),
            "{lost:?}"
        );
        let [Ok(winner)] = won[..] else { panic!("{won:?}") };
        let read = TensorFile::open(path).unwrap().matrix("x").unwrap();
        assert_eq!(read[(0, 0)], f64::from(winner));
    }
    assert_eq!(names(&folder).len(), 20);
}

#[test]
fn a_name_may_be_as_long_as_the_system_allows() {
    let folder = tempdir().unwrap();
    for name in ["x".repeat(255), "é".repeat(127)] {
        for existing in [Existing::Keep, Existing::Replace] {
            save(&folder.path().join(&name), &[tensor::<f64>(0.0)], existing).unwrap();
        }
    }
    assert_eq!(names(&folder).len(), 2);
}
