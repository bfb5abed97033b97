//! Files, read once, and what they declare.

mod goal;
mod instance;
mod objective;
mod picture;
mod property;
mod read_options;
mod source_file;
mod spec;
mod suite;
mod suite_file;
mod system;
mod traces;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use iolite_derive::ModelRef;
use iolite_formats::{aut, dot, json, names_label};
use iolite_lang::{
    Diagnostic, File, Loaded, Rejected, Span, Style, codes, diagnostic, has_data, systems,
};
use iolite_lts::{LabelKind, Labels, Lts, StateId, restrict};

use crate::explorer::{Explorer, explorer_command};
use crate::{Budget, Error, all_cores};

pub use goal::{DataAutomaton, GoalAutomaton};
pub use property::{HoaLetters, Origin, Property, PropertyReadOptions};
pub(crate) use property::{conformance_model, formula};
pub use read_options::{DotKind, ReadOptions};
pub use source_file::SourceFile;
pub(crate) use source_file::hash;
use source_file::{Checksum, FileStream, Left, Wanted};
pub use spec::{ExplicitSpec, Signature, Spec, SymbolicSpec};
pub use suite::{SuiteCase, SymbolicSuiteCase};
use suite_file::ListedCase;
pub(crate) use suite_file::suite_reference;
pub(crate) use system::too_many_states;

/// Who receives warnings.
type Warn = Box<dyn Fn(&str) + Send + Sync>;

/// A snapshot of files. Each is read, hashed, parsed and lowered once, when it is first asked for;
/// whatever is asked later is answered from there, also after the file was changed or deleted. A
/// campaign, its jobs, its report and its certificates share one snapshot.
///
/// ```
/// # fn main() -> Result<(), iolite::Error> {
/// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/candy/candy.iol");
/// let workspace = iolite::Workspace::new();
/// let candy = workspace.spec(&folder.into())?;
/// assert_eq!(candy.reference().name.as_deref(), Some("Candy"));
/// # Ok(())
/// # }
/// ```
pub struct Workspace {
    read: ReadOptions,
    style: Style,
    budget: Budget,
    warn: Warn,
    files: Mutex<BTreeMap<PathBuf, Arc<SourceFile>>>,
    specs: Mutex<BTreeMap<(ModelRef, bool), Arc<Spec>>>,
    /// The test cases of suites in one file.
    suites: Mutex<BTreeMap<ModelRef, Arc<[ListedCase]>>>,
    reads: Mutex<BTreeMap<PathBuf, usize>>,
    /// Files of our own language that got the warning that flags give them no directions.
    undirected: Mutex<BTreeSet<PathBuf>>,
    /// Whether programs that explore models may be started.
    explores: bool,
    /// What is wanted of large files beside what they say.
    wanted: Wanted,
    /// Files whose hashes were not wanted.
    unhashed: Mutex<BTreeMap<PathBuf, Checksum>>,
    /// How many threads read a large file.
    pub(crate) jobs: NonZeroUsize,
    /// Files that were read piece by piece before anybody asked for them: their systems, and what is left of them.
    read_ahead: Mutex<BTreeMap<PathBuf, (Lts, Left)>>,
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

/// Bytes from which the text of a file matters beside what is made of it.
const LARGE_TEXT: usize = 1 << 20;

/// The format of a model file, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Our own language.
    Iol,
    /// Aldebaran.
    Aut,
    /// Graphviz.
    Dot,
    /// JSON.
    Json,
}

impl Format {
    /// The format of a file of this name.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let reference = ModelRef::file(path);
        match reference.ending() {
            _ if reference.is_iol() => Ok(Self::Iol),
            "aut" => Ok(Self::Aut),
            "dot" | "gv" => Ok(Self::Dot),
            "json" => Ok(Self::Json),
            _ => {
                let shown = path.display().to_string();
                let error = Error::input(format!(
                    "{shown}: a model's name ends in .iol, .aut, .dot, .gv or .json, or in one of these and .gz"
                ));
                Err(match shown.rsplit_once(".iol:") {
                    Some((file, name)) => error.hint(format!(
                        "a declaration of a file is named with `#`: {file}.iol#{name}"
                    )),
                    None => error,
                })
            }
        }
    }
}

/// A system or process of an `.iol` file.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// The file, with the instance that the reference asks for as its last line.
    pub(crate) source: Arc<SourceFile>,
    /// The declaration's name in it.
    pub(crate) name: String,
    /// The reference, with its name filled in.
    pub(crate) reference: ModelRef,
}

impl Declared {
    pub(crate) fn file(&self) -> &File {
        self.source.tree().0
    }

    pub(crate) fn has_data(&self) -> bool {
        has_data(self.file(), &self.name)
    }
}

fn changed(path: &Path) -> Error {
    let path = path.display();
    Error::input(format!("{path} changed while it was in use"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workspace {
    /// An empty snapshot with the default options, which gives no warnings.
    pub fn new() -> Self {
        Self::with_options(ReadOptions::default())
    }

    /// An empty snapshot.
    pub fn with_options(read: ReadOptions) -> Self {
        Self {
            read,
            style: Style::default(),
            budget: Budget::unlimited(),
            warn: Box::new(|_| ()),
            files: Mutex::default(),
            specs: Mutex::default(),
            suites: Mutex::default(),
            reads: Mutex::default(),
            undirected: Mutex::default(),
            explores: true,
            wanted: Wanted {
                text: true,
                hash: true,
            },
            unhashed: Mutex::default(),
            jobs: all_cores(),
            read_ahead: Mutex::default(),
        }
    }

    /// The same, for answers that seldom need the texts of files: large files of other tools are read piece by piece, or given up
    /// once their systems are read, since their texts may take more memory than the answer. A certificate reads them again; it is
    /// an error if they changed meanwhile.
    #[must_use]
    pub fn without_texts(mut self) -> Self {
        self.wanted.text = false;
        self
    }

    /// The same, for answers that do not say which files they are about: [large files without texts](Self::without_texts) are read
    /// without their hashes, which take a third of the time. Whoever asks for one after all has the file read again; it is
    /// an error if it changed meanwhile.
    #[must_use]
    pub fn without_hashes(mut self) -> Self {
        self.wanted.hash = false;
        self
    }

    /// The same, with so many threads that read a large file and determinise, instead of one for each core. What is read does not depend on
    /// their number.
    #[must_use]
    pub fn with_jobs(mut self, jobs: NonZeroUsize) -> Self {
        self.jobs = jobs;
        self
    }

    /// The same, which starts no program: whoever reads what others wrote executes nothing.
    #[must_use]
    pub fn without_explorers(mut self) -> Self {
        self.explores = false;
        self
    }

    /// Calls `warn` with each warning: a line or more, without a line end.
    #[must_use]
    pub fn on_warning(mut self, warn: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.warn = Box::new(warn);
        self
    }

    /// How diagnostics look.
    #[must_use]
    pub fn with_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// How much time and memory answers may take.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// How much time and memory answers may take.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The same files as they are here, read in another way.
    pub(crate) fn read_as(&self, read: ReadOptions) -> Self {
        let mut other = Self::with_options(read).with_budget(self.budget.clone());
        other.explores = self.explores;
        other.jobs = self.jobs;
        lock(&other.files).clone_from(&lock(&self.files));
        lock(&other.unhashed).clone_from(&lock(&self.unhashed));
        other
    }

    /// How files are read.
    pub fn options(&self) -> &ReadOptions {
        &self.read
    }

    /// Gives a warning.
    pub(crate) fn warn(&self, text: &str) {
        (self.warn)(text);
    }

    /// How often each file was read from disk.
    pub fn reads(&self) -> BTreeMap<PathBuf, usize> {
        lock(&self.reads).clone()
    }

    /// The files that were read so far, with their hashes.
    pub fn hashes(&self) -> BTreeMap<PathBuf, String> {
        let files = lock(&self.files);
        let hash =
            |(path, file): (&PathBuf, &Arc<SourceFile>)| (path.clone(), file.hash().to_owned());
        files.iter().map(hash).collect()
    }

    /// The texts of the files that were read so far, unless they have more than so many bytes together.
    pub fn texts(&self, most: usize) -> Vec<(PathBuf, String)> {
        let files = lock(&self.files);
        let text = |(path, file): (&PathBuf, &Arc<SourceFile>)| {
            let text = file.text().ok()?;
            Some((path.clone(), text.to_owned()))
        };
        let bytes: usize = files.values().map(|file| file.bytes().len()).sum();
        if bytes > most {
            return Vec::new();
        }
        files.iter().filter_map(text).collect()
    }

    /// A file as it was when it was first asked for.
    pub fn source(&self, path: &Path) -> Result<Arc<SourceFile>, Error> {
        if let Some(known) = lock(&self.files).get(path) {
            return Ok(Arc::clone(known));
        }
        let bytes = source_file::read(&ModelRef::file(path)).map_err(|e| {
            let error = Error::reading(path, &e);
            // A bare name is most often that of a declaration.
            match path.to_str() {
                Some(name)
                    if e.kind() == std::io::ErrorKind::NotFound
                        && iolite_lang::syntax::is_plain_name(name) =>
                {
                    error.hint(format!(
                        "a declaration is named together with its file: FILE#{name}"
                    ))
                }
                _ => error,
            }
        })?;
        self.count_read(path);
        let known = lock(&self.unhashed).get(path).copied();
        if known.is_some_and(|known| known != Checksum::of(&bytes)) {
            return Err(changed(path));
        }
        Ok(self.insert(path, bytes))
    }

    fn count_read(&self, path: &Path) {
        *lock(&self.reads).entry(path.to_owned()).or_default() += 1;
    }

    /// The same with its bytes, which are read again where they were given up, and kept from then on: certificates that follow
    /// want them too.
    pub(crate) fn whole_source(&self, path: &Path) -> Result<Arc<SourceFile>, Error> {
        let known = self.source(path)?;
        if !known.is_forgotten() {
            return Ok(known);
        }
        let bytes =
            source_file::read(&ModelRef::file(path)).map_err(|e| Error::reading(path, &e))?;
        let again = Arc::new(SourceFile::new(path, bytes, self.style));
        if again.hash() != known.hash() {
            return Err(changed(path));
        }
        self.count_read(path);
        lock(&self.files).insert(path.to_owned(), Arc::clone(&again));
        Ok(again)
    }

    /// Puts a text in the place of a file.
    pub fn insert(&self, path: &Path, bytes: impl Into<Vec<u8>>) -> Arc<SourceFile> {
        let file = Arc::new(SourceFile::new(path, bytes.into(), self.style));
        lock(&self.files).insert(path.to_owned(), Arc::clone(&file));
        lock(&self.suites).retain(|reference, _| reference.path() != path);
        file
    }

    /// The reference, where the part after `#` may belong to the name of a file.
    fn resolved(&self, reference: &ModelRef) -> ModelRef {
        let whole = PathBuf::from(reference.to_string());
        let known = |path: &Path| lock(&self.files).contains_key(path);
        if reference.name.is_some() && !known(reference.path()) && (known(&whole) || whole.exists())
        {
            return ModelRef::file(&whole);
        }
        reference.clone()
    }

    /// Picks the system or process of an `.iol` file that is meant.
    ///
    /// `#Sender(max = 3)` reads as if `system … = Sender(max = 3)` stood at the end of the file, so
    /// that mistakes in it are reported as they are in any other line.
    pub(crate) fn declaration(&self, reference: &ModelRef) -> Result<Declared, Error> {
        let reference = self.resolved(reference);
        let mut source = self.source(reference.path())?;
        let name = reference.name.as_deref().unwrap_or_default();
        let instance = name.find(['(', '[']).map(|at| name.split_at(at));
        let mut wanted = reference.clone();
        if let Some((system, arguments)) = instance {
            let fresh = fresh_name(source.file()?, system);
            let line = format!("system {fresh} = {system}{arguments}");
            source = Arc::new(source.with_line(&line));
            wanted.name = Some(fresh);
        }
        let name = pick(&wanted, "system or process", &systems(source.file()?))?.to_owned();
        let shown = reference.name.clone().unwrap_or_else(|| name.clone());
        Ok(Declared {
            reference: reference.with_name(shown).with_hash(source.hash()),
            source,
            name,
        })
    }

    /// A specification: symbolic where it has data, else explicit.
    pub fn spec(&self, reference: &ModelRef) -> Result<Arc<Spec>, Error> {
        if explorer_command(reference).is_some() {
            // One program, whoever asks for it.
            return self.explicit(reference).map(Spec::Explicit).map(Arc::new);
        }
        self.cached(reference, false, || {
            let resolved = self.resolved(reference);
            if Format::of(resolved.path())? == Format::Iol {
                let declared = self.declaration(&resolved)?;
                if declared.has_data() {
                    self.warn_of_directions_of_iol(resolved.path());
                    return SymbolicSpec::new(declared).map(Spec::Symbolic);
                }
            }
            // Read once, whichever of the two is asked for.
            self.explicit(reference).map(Spec::Explicit)
        })
    }

    /// A specification as an explicit system: finite data are unfolded, and what is infinite is an
    /// error, never cut.
    pub fn explicit(&self, reference: &ModelRef) -> Result<ExplicitSpec, Error> {
        let load = || self.load_explicit(reference).map(Spec::Explicit);
        match &*self.cached(reference, true, load)? {
            Spec::Explicit(spec) => Ok(spec.clone()),
            Spec::Symbolic(_) | Spec::Properties(_) => unreachable!("loaded as an explicit one"),
        }
    }

    fn cached(
        &self,
        reference: &ModelRef,
        unfolded: bool,
        load: impl FnOnce() -> Result<Spec, Error>,
    ) -> Result<Arc<Spec>, Error> {
        let key = (reference.clone(), unfolded);
        if let Some(known) = lock(&self.specs).get(&key) {
            return Ok(Arc::clone(known));
        }
        let spec = Arc::new(load()?);
        lock(&self.specs).insert(key, Arc::clone(&spec));
        Ok(spec)
    }

    fn load_explicit(&self, reference: &ModelRef) -> Result<ExplicitSpec, Error> {
        if let Some(command) = explorer_command(reference) {
            if !self.explores {
                return Err(Error::undecided(format!(
                    "another program explores {reference}, and nothing is executed here"
                )));
            }
            let explorer = Explorer::start(command, self.read.budget())?;
            // In the place of a text, for certificates: what is known of the program from outside.
            let source = self.insert(reference.path(), explorer.text());
            let reference = reference.with_hash(source.hash());
            return Ok(ExplicitSpec::explored(reference, explorer));
        }
        let reference = self.resolved(reference);
        let format = Format::of(reference.path())?;
        if format == Format::Iol {
            self.warn_of_directions_of_iol(reference.path());
            let declared = self.declaration(&reference)?;
            return ExplicitSpec::declared(declared, &self.read);
        }
        if let Some(spec) = self.stream(&reference) {
            return Ok(spec);
        }
        let source = self.whole_source(reference.path())?;
        if let Some(name) = &reference.name {
            return Err(Error::input(format!(
                "{} holds one system, without a name; `#{name}` does not fit",
                reference.path().display()
            )));
        }
        let loaded = read_foreign(format, source.bytes(), &self.read);
        let lts = self.accept(&source, loaded)?;
        self.warn_of_idle_directions(reference.path(), lts.labels());
        if !self.wanted.text && source.bytes().len() > LARGE_TEXT {
            let rest = Arc::new(source.without_bytes());
            lock(&self.files).insert(reference.path().to_owned(), rest);
        }
        Ok(ExplicitSpec::foreign(
            reference.with_hash(source.hash()),
            lts,
        ))
    }

    /// Whether a file may be read piece by piece: where it was not read before.
    fn may_stream(&self, reference: &ModelRef) -> bool {
        let path = reference.path();
        let is_known =
            || lock(&self.files).contains_key(path) || lock(&self.unhashed).contains_key(path);
        let is_aut = || Format::of(path).is_ok_and(|format| format == Format::Aut);
        reference.name.is_none() && is_aut() && !is_known()
    }

    /// A large file, to be read piece by piece; `None` for small ones.
    fn open_stream(&self, reference: &ModelRef) -> Option<FileStream> {
        FileStream::open(reference, LARGE_TEXT, self.wanted)
    }

    /// Reads a large file piece by piece, by so many threads. `None` where there is something to say about it, which needs its
    /// text.
    fn read_pieces(
        &self,
        reference: &ModelRef,
        mut stream: FileStream,
        jobs: NonZeroUsize,
    ) -> Option<(Lts, Left)> {
        self.count_read(reference.path());
        let lts = aut::read_stream(&mut stream, &self.read.aut_options(), jobs).ok()??;
        Some((lts, stream.finish(reference.path(), self.style)))
    }

    /// Reads two large files at the same time, where both are to be read piece by piece and neither is much larger: that one is
    /// read faster by all threads. Nothing is said about them before somebody asks for one.
    pub(crate) fn read_both(&self, one: &ModelRef, other: &ModelRef) {
        let (one, other) = (self.resolved(one), self.resolved(other));
        let Some(half) = NonZeroUsize::new(self.jobs.get() / 2) else {
            return;
        };
        if one.path() == other.path() || !self.may_stream(&one) || !self.may_stream(&other) {
            return;
        }
        let streams = (self.open_stream(&one), self.open_stream(&other));
        let (Some(one_stream), Some(other_stream)) = streams else {
            return;
        };
        let (size, other_size) = (one_stream.size(), other_stream.size());
        if 2 * size.min(other_size) < size.max(other_size) {
            return;
        }
        let read = |reference: &ModelRef, stream, jobs| {
            if let Some(read) = self.read_pieces(reference, stream, jobs) {
                lock(&self.read_ahead).insert(reference.path().to_owned(), read);
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| read(&other, other_stream, half));
            let rest = self.jobs.get() - half.get();
            read(&one, one_stream, NonZeroUsize::new(rest).unwrap_or(half));
        });
    }

    /// The system of a large file that is read piece by piece; see [`Self::read_pieces`].
    fn stream(&self, reference: &ModelRef) -> Option<ExplicitSpec> {
        if !self.may_stream(reference) {
            return None;
        }
        let path = reference.path();
        let ahead = lock(&self.read_ahead).remove(path);
        let read = || self.read_pieces(reference, self.open_stream(reference)?, self.jobs);
        let (lts, left) = ahead.or_else(read)?;
        self.warn_of_idle_directions(path, lts.labels());
        let mut reference = reference.clone();
        match left {
            Left::Source(source) => {
                reference = reference.with_hash(source.hash());
                lock(&self.files).insert(path.to_owned(), source);
            }
            Left::Checksum(checksum) => {
                lock(&self.unhashed).insert(path.to_owned(), checksum);
            }
        }
        Some(ExplicitSpec::foreign(reference, lts))
    }

    /// A file of our own language says itself what is an input: flags that do are for other formats.
    fn warn_of_directions_of_iol(&self, path: &Path) {
        let options = &self.read;
        let flags = [
            ("--input", &options.input),
            ("--output", &options.output),
            ("--input-prefix", &options.input_prefix),
            ("--output-prefix", &options.output_prefix),
        ];
        let given = flags.into_iter().find(|(_, given)| !given.is_empty());
        let Some((flag, given)) = given else {
            return;
        };
        if !lock(&self.undirected).insert(path.to_owned()) {
            return;
        }
        self.warn(&format!(
            "warning: {flag} {} has no effect on {}: an .iol file declares its inputs and outputs itself, \
             as in `input a`",
            given.join(","),
            path.display()
        ));
    }

    /// Tells of names and prefixes that make no label of a foreign file an input or output.
    fn warn_of_idle_directions(&self, path: &Path, labels: &Labels) {
        let options = &self.read;
        for (flag, given, kind, is_prefix) in [
            ("--input", &options.input, LabelKind::Input, false),
            ("--output", &options.output, LabelKind::Output, false),
            (
                "--input-prefix",
                &options.input_prefix,
                LabelKind::Input,
                true,
            ),
            (
                "--output-prefix",
                &options.output_prefix,
                LabelKind::Output,
                true,
            ),
        ] {
            let of_kind: Vec<&str> = labels
                .iter()
                .filter(|(_, label)| label.kind == kind)
                .map(|(_, label)| &*label.name)
                .collect();
            for name in given {
                let fits = |label: &&str| {
                    if is_prefix {
                        label.starts_with(name.as_str())
                    } else {
                        names_label(name, label)
                    }
                };
                if of_kind.iter().any(fits) {
                    continue;
                }
                let plain = labels
                    .iter()
                    .filter(|(_, label)| label.kind == LabelKind::Undirected)
                    .map(|(_, label)| &*label.name);
                let hint = iolite_lang::diagnostic::did_you_mean(name, plain);
                let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                self.warn(&format!(
                    "warning: {flag} {name} has no effect: no plain label of {} fits{hint}",
                    path.display()
                ));
            }
        }
    }

    /// Takes what a reader gave; its lints become warnings.
    pub(crate) fn accept<T>(
        &self,
        source: &SourceFile,
        loaded: Result<Loaded<T>, Rejected>,
    ) -> Result<T, Error> {
        let Loaded { value, lints } = loaded.map_err(|Rejected(d)| source.rejected(&d))?;
        if !lints.is_empty() {
            self.warn(source.rendered(&lints).trim_end());
        }
        Ok(value)
    }
}

/// Reads a system in a format other than our own.
pub fn read_foreign(
    format: Format,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Loaded<Lts>, Rejected> {
    match format {
        Format::Aut => aut::read(bytes, &options.aut_options()),
        Format::Json => json::read(bytes),
        Format::Dot | Format::Iol if options.dot == Some(DotKind::Acceptor) => {
            let Loaded { value, lints } = dot::read_acceptor(bytes, &options.dot_options(bytes))?;
            let accepting = |s: StateId| value.accepting.binary_search(&s).is_ok();
            let value = restrict(&value.lts, accepting).ok_or_else(|| {
                let message = "the initial state is no double circle, so no trace is accepted";
                Rejected(vec![Diagnostic::error(
                    codes::DOT_NO_INITIAL,
                    Span::default(),
                    message,
                )])
            })?;
            Ok(Loaded { value, lints })
        }
        Format::Dot | Format::Iol => dot::read(bytes, &options.dot_options(bytes)),
    }
}

/// A name that the file does not declare.
fn fresh_name(file: &File, base: &str) -> String {
    let taken = |name: &str| file.items.iter().any(|item| item.name().text == name);
    let mut name = format!("{base}_given");
    while taken(&name) {
        name.push('_');
    }
    name
}

/// The declaration meant by `reference` among those of a kind.
pub(crate) fn pick<'n>(
    reference: &ModelRef,
    kind: &str,
    names: &[&'n str],
) -> Result<&'n str, Error> {
    let path = reference.path().display();
    let list = names
        .iter()
        .map(|n| format!("{path}#{n}"))
        .collect::<Vec<_>>()
        .join(", ");
    match (&reference.name, names) {
        (Some(wanted), _) => names.iter().find(|n| *n == wanted).copied().ok_or_else(|| {
            let hint = diagnostic::did_you_mean(wanted, names.iter().copied());
            let error = Error::input(format!("{path} declares no {kind} `{wanted}`"));
            error.hint(hint.unwrap_or_else(|| format!("it declares: {list}")))
        }),
        (None, [only]) => Ok(only),
        (None, []) => Err(Error::input(format!("{path} declares no {kind}"))),
        (None, _) => Err(
            Error::input(format!("{path} declares more than one {kind}"))
                .hint(format!("pick one: {list}")),
        ),
    }
}

/// The named declaration, or all of them.
pub(crate) fn pick_all<'n>(
    reference: &ModelRef,
    kind: &str,
    names: &[&'n str],
) -> Result<Vec<&'n str>, Error> {
    match (&reference.name, names) {
        (None, [_, ..]) => Ok(names.to_vec()),
        _ => pick(reference, kind, names).map(|name| vec![name]),
    }
}
