//! Where the test cases of a derivation go: to the files of a folder, or to one file with a test case a line.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use iolite::{Derived, Error, GrowingFile, PartFile, PublishCase, SymbolicGraph};
use iolite_derive::{SymbolicTestCase, TestCase, TestGraph};
use iolite_formats::drawing;
use iolite_formats::{symbolic_test_case, test_case, test_graph};

use super::derive::{Args, ExportFormat};
use super::derive_document::{CaseDocument, Document, PrunedDocument};
use crate::output::write_whole;

/// Where a derivation stores what it makes, and what is to be told of it.
pub(super) struct Storage<'a> {
    args: &'a Args,
    document: Mutex<Document>,
    /// Where all test cases go to one file.
    suite_file: Option<SuiteFile>,
    /// The names of goals that have a test case. Those of other derivations are numbered.
    named: Mutex<HashSet<String>>,
    /// Whether the folder is new, once it is made.
    folder: OnceLock<std::io::Result<bool>>,
}

impl<'a> Storage<'a> {
    /// What the arguments ask for. Nothing is made yet.
    pub(super) fn of(args: &'a Args) -> Result<Self, Error> {
        Ok(Self {
            args,
            document: Mutex::default(),
            suite_file: SuiteFile::of(args)?,
            named: Mutex::default(),
            folder: OnceLock::new(),
        })
    }

    fn document(&self) -> MutexGuard<'_, Document> {
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a test case without data. Threads make its text, and what they made gets its name in the order of the suite.
    pub(super) fn store(&self, case: &TestCase) -> PublishCase<'_> {
        let written = CaseDocument::of(case, self.place(case.name()));
        if let Some(suite_file) = &self.suite_file {
            let line = suite_file.line(|line| {
                test_case::json::append_line(case, line);
                Ok(())
            });
            return Box::new(move || {
                self.claim(&written)?;
                suite_file.append(line?)?;
                Ok(self.told(written))
            });
        }
        let is_new = self.make_folder();
        let files = is_new.and_then(|is_new| write_case(self.args, case, is_new));
        Box::new(move || {
            self.claim(&written)?;
            files?.into_iter().try_for_each(PartFile::publish)?;
            Ok(self.told(written))
        })
    }

    /// Stores what there is beside test cases without data.
    pub(super) fn take(&self, derived: Derived<'_>) -> Result<ControlFlow<()>, Error> {
        match derived {
            Derived::Symbolic { case, graph, goal } => self.take_symbolic(&case, &graph, goal),
            Derived::Graph { name, graph } => {
                self.write_graph(name, graph)?;
                Ok(ControlFlow::Continue(()))
            }
            Derived::Matrix(table) => {
                let matrix = self.beside("coverage.csv")?;
                write_whole(&matrix, table.as_bytes())?;
                let note = format!("requirement × transition: {}", matrix.display());
                self.document().notes.push(note);
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    /// Gives a suite in one file its name, and says what was stored.
    pub(super) fn publish(self) -> Result<Document, Error> {
        if let Some(suite_file) = &self.suite_file {
            suite_file.publish()?;
        }
        let document = self.document.into_inner();
        Ok(document.unwrap_or_else(PoisonError::into_inner))
    }

    /// Where a test case is found again.
    fn place(&self, name: &str) -> String {
        if self.suite_file.is_some() {
            return format!("{}#{name}", self.args.output_folder.display());
        }
        file(self.args, name, "json").display().to_string()
    }

    /// Two goals may have one name, in files of their own or once it is that of a file.
    fn claim(&self, written: &CaseDocument) -> Result<(), Error> {
        let args = self.args;
        let mut goals = [&args.observer, &args.purpose, &args.property].into_iter();
        if goals.all(Vec::is_empty) {
            return Ok(());
        }
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if named.insert(written.file.clone()) {
            return Ok(());
        }
        let message = format!("a second test case would be {}", written.file);
        Err(Error::input(message).hint("goals of one name need suites of their own"))
    }

    fn told(&self, written: CaseDocument) -> ControlFlow<()> {
        let mut document = self.document();
        document.cases.push(written);
        document.go_on()
    }

    fn make_folder(&self) -> Result<bool, Error> {
        let folder = &self.args.output_folder;
        let made = self.folder.get_or_init(|| make_folder(folder));
        made.as_ref()
            .copied()
            .map_err(|e| Error::writing(folder, e))
    }

    /// The path of a file that is no test case: in the folder, or beside the one file and named after it.
    fn beside(&self, name: &str) -> Result<PathBuf, Error> {
        let Some(suite_file) = &self.suite_file else {
            self.make_folder()?;
            return Ok(self.args.output_folder.join(name));
        };
        suite_file.make_parent()?;
        let mut own = suite_file.path.file_stem().unwrap_or_default().to_owned();
        own.push(".");
        own.push(name);
        Ok(suite_file.path.with_file_name(own))
    }

    fn write_graph(&self, name: &str, graph: &TestGraph) -> Result<(), Error> {
        if !self.args.graph {
            return Ok(());
        }
        let name = PathBuf::from(file_name(name));
        let named = |ending| {
            let name = name.with_extension(ending);
            self.beside(&name.to_string_lossy())
        };
        let dot = named("graph.dot")?;
        write_whole(&dot, test_graph::write_dot(graph, true).as_bytes())?;
        write_whole(
            &named("graph.aut")?,
            test_graph::write_aut(graph).as_bytes(),
        )?;
        let note = format!("test graph: {}", dot.display());
        self.document().notes.push(note);
        Ok(())
    }

    fn take_symbolic(
        &self,
        case: &SymbolicTestCase,
        graph: &SymbolicGraph,
        goal: Option<String>,
    ) -> Result<ControlFlow<()>, Error> {
        let name = case.name();
        let written = CaseDocument {
            name: name.to_owned(),
            file: self.place(name),
            states: case.program().locations().len(),
            depth: None,
            goal,
        };
        self.claim(&written)?;
        let wrong = |e: symbolic_test_case::json::WriteError| {
            Error::undecided(format!("{name}: {e}")).hint(
                "testing on the fly needs no such guard: `iolite test MODEL --observer FILE#W`",
            )
        };
        if let Some(suite_file) = &self.suite_file {
            let line = suite_file
                .line(|line| symbolic_test_case::json::append_line(case, line).map_err(wrong))?;
            suite_file.append(line)?;
        } else {
            self.make_folder()?;
            let text = symbolic_test_case::json::write(case).map_err(wrong)?;
            write_whole(Path::new(&written.file), text.as_bytes())?;
            export_symbolic(self.args, case, graph)?;
        }
        if self.args.explain_pruning {
            self.document().pruned.push(PrunedDocument {
                case: name.to_owned(),
                text: graph.pruning(),
                transitions: graph.pruned.clone(),
            });
        }
        Ok(self.told(written))
    }
}

/// One file for all test cases, which is made with the first of them.
struct SuiteFile {
    path: PathBuf,
    file: Mutex<Option<GrowingFile>>,
    /// The memory of lines that were written. A line has megabytes at times, which the system would give and take back for each.
    spare: Mutex<Vec<String>>,
}

impl SuiteFile {
    /// That of the arguments, where they ask for one.
    fn of(args: &Args) -> Result<Option<Self>, Error> {
        let path = &args.output_folder;
        if path.to_string_lossy().ends_with(".jsonl.gz") && !path.is_dir() {
            return Err(Error::input("a packed suite is read, and not written")
                .hint("write FILE.jsonl, and pack it: gzip FILE.jsonl"));
        }
        if path.extension().is_none_or(|e| e != "jsonl") || path.is_dir() {
            return Ok(None);
        }
        if !args.export.is_empty() {
            let message = "--export writes files of their own for each test case";
            return Err(Error::input(message).hint("name a folder: -o FOLDER"));
        }
        Ok(Some(Self {
            path: path.clone(),
            file: Mutex::new(None),
            spare: Mutex::default(),
        }))
    }

    fn spare(&self) -> MutexGuard<'_, Vec<String>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The line of a test case, which `append` makes.
    fn line(&self, append: impl FnOnce(&mut String) -> Result<(), Error>) -> Result<String, Error> {
        let mut line = self.spare().pop().unwrap_or_default();
        append(&mut line)?;
        Ok(line)
    }

    fn file(&self) -> MutexGuard<'_, Option<GrowingFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_parent(&self) -> Result<(), Error> {
        match self.path.parent() {
            Some(parent) => std::fs::create_dir_all(parent).map_err(|e| Error::writing(parent, &e)),
            None => Ok(()),
        }
    }

    fn append(&self, mut line: String) -> Result<(), Error> {
        let mut file = self.file();
        let growing = match &mut *file {
            Some(growing) => growing,
            none => {
                self.make_parent()?;
                none.insert(GrowingFile::create(&self.path)?)
            }
        };
        let appended = growing.append(line.as_bytes());
        if appended.is_err() {
            *file = None;
        }
        line.clear();
        self.spare().push(line);
        appended
    }

    /// Gives the file its name, if there is one.
    fn publish(&self) -> Result<(), Error> {
        self.file().take().map_or(Ok(()), GrowingFile::publish)
    }
}

/// Makes the folder of a suite. Says whether there was none, so that nothing is in it but what is put there now.
fn make_folder(folder: &Path) -> std::io::Result<bool> {
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::create_dir(folder) {
        Ok(()) => Ok(true),
        Err(_) => std::fs::create_dir_all(folder).map(|()| false),
    }
}

/// Writes the files of a test case, which have no names yet.
fn write_case(args: &Args, case: &TestCase, in_new_folder: bool) -> Result<Vec<PartFile>, Error> {
    let write = |ending, text: String| {
        let path = file(args, case.name(), ending);
        let content = |file: &mut dyn std::io::Write| {
            file.write_all(text.as_bytes())
                .map_err(|e| Error::writing(&path, &e))
        };
        if in_new_folder {
            PartFile::write_new(&path, content)
        } else {
            PartFile::write(&path, content)
        }
    };
    let mut files = vec![write("json", test_case::json::write(case))?];
    for format in &args.export {
        files.push(match format {
            ExportFormat::Aut => write("aut", test_case::aut::write(case))?,
            ExportFormat::Dot => write("dot", test_case::dot::write(case))?,
            ExportFormat::Ttcn3 => write("ttcn3", test_case::ttcn3::write(case))?,
            ExportFormat::Iol => {
                return Err(Error::input(
                    "--export iol is for test cases with data, and this one has none",
                ));
            }
        });
    }
    Ok(files)
}

/// Writes a test case with data in the other formats.
fn export_symbolic(
    args: &Args,
    case: &SymbolicTestCase,
    graph: &SymbolicGraph,
) -> Result<(), Error> {
    let name = case.name();
    let not_exported = |e: &dyn std::fmt::Display| {
        Error::undecided(format!("{name}: {e}"))
            .hint("the test case itself is stored; leave this --export out")
    };
    for format in &args.export {
        let (ending, text) = match format {
            ExportFormat::Dot => ("dot", drawing::dot::write(&graph.drawing())),
            ExportFormat::Ttcn3 => {
                let text = symbolic_test_case::ttcn3::write(case);
                ("ttcn3", text.map_err(|e| not_exported(&e))?)
            }
            ExportFormat::Iol => {
                let text = symbolic_test_case::iol::write(case);
                ("iol", text.map_err(|e| not_exported(&e))?)
            }
            ExportFormat::Aut => {
                return Err(Error::input(format!(
                    "{name} has data, and .aut has no place for them"
                ))
                .hint("export dot, iol or ttcn3; --unfold makes test cases of states"));
            }
        };
        write_whole(&file(args, name, ending), text.as_bytes())?;
    }
    Ok(())
}

/// The file of a test case.
fn file(args: &Args, name: &str, ending: &str) -> PathBuf {
    let mut path = args.output_folder.join(file_name(name)).into_os_string();
    path.push(format!(".{ending}"));
    path.into()
}

/// A name that no file system minds.
fn file_name(name: &str) -> String {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars()
        .map(|c| if fits(c) { c } else { '_' })
        .collect()
}

/// What lay in the folder before is part of the suite, too.
pub(super) fn warn_of_older_cases(args: &Args, new: usize) {
    let folder = &args.output_folder;
    if new == 0 && folder.is_file() {
        let path = folder.display();
        warning!("warning: {path} is a suite from before; nothing was written");
    }
    if !folder.is_dir() {
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let json = entries.filter(|e| e.path().extension().is_some_and(|e| e == "json"));
    let older = json.count().saturating_sub(new);
    if older > 0 {
        warning!(
            "warning: {} holds {older} more test cases from before; `iolite test --suite` runs them \
             too",
            folder.display()
        );
    }
}
