//! Walks a tree and collects its names.

use std::collections::BTreeMap;

use iolite_lang::Span;
use iolite_lang::check::{ResolvedSort, Sorts};
use iolite_lang::syntax::ast::{File, Item, Name, Param, Sort, SortKind};

use super::{Symbol, SymbolId, SymbolKind, SymbolTable};

/// Whose field a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FieldOf {
    Record,
    Variant,
    /// Of whatever variant has it.
    Sum,
}

/// A symbol that is made.
pub(super) struct New<'a> {
    pub(super) name: &'a Name,
    pub(super) kind: SymbolKind,
    pub(super) word: &'static str,
    pub(super) detail: String,
    pub(super) whole: Span,
    pub(super) owner: Option<SymbolId>,
}

/// Characters of a declaration that are shown.
const MOST_SHOWN: usize = 200;

/// Parts of behaviours that are looked at for the actions behind gates, in all.
const MOST_STEPS: u32 = 2_000_000;

pub(super) struct Builder<'f> {
    text: &'f str,
    pub(super) sorts: &'f Sorts<'f>,
    table: SymbolTable,
    /// Declarations by name; of two with one name the first counts, here and everywhere.
    pub(super) items: BTreeMap<&'f str, (SymbolId, &'f Item)>,
    /// Values of enumerations and variants.
    pub(super) values: BTreeMap<&'f str, SymbolId>,
    pub(super) fields: BTreeMap<(FieldOf, &'f str, &'f str), SymbolId>,
    /// Constants and variables of machines, parameters of processes.
    pub(super) members: BTreeMap<(SymbolId, &'f str), SymbolId>,
    /// Formal gates of processes.
    pub(super) gates: BTreeMap<(SymbolId, &'f str), SymbolId>,
    /// Actions by what declares them, sigil and name.
    pub(super) actions: BTreeMap<(SymbolId, &'static str, &'f str), SymbolId>,
    /// The parameters of declared actions.
    pub(super) signatures: BTreeMap<SymbolId, &'f [Param]>,
    /// What is in scope, with the sort as far as it is known; the last hides those before.
    locals: BTreeMap<&'f str, Vec<(SymbolId, ResolvedSort)>>,
    pub(super) steps_left: u32,
}

impl<'f> Builder<'f> {
    pub(super) fn build(text: &'f str, file: &'f File, sorts: &'f Sorts<'f>) -> SymbolTable {
        let mut builder = Self {
            text,
            sorts,
            table: SymbolTable::default(),
            items: BTreeMap::new(),
            values: BTreeMap::new(),
            fields: BTreeMap::new(),
            members: BTreeMap::new(),
            gates: BTreeMap::new(),
            actions: BTreeMap::new(),
            signatures: BTreeMap::new(),
            locals: BTreeMap::new(),
            steps_left: MOST_STEPS,
        };
        // Names may be used before they are declared.
        let ids: Vec<SymbolId> = file.items.iter().map(|i| builder.declare(i)).collect();
        for (item, id) in file.items.iter().zip(ids) {
            builder.look_at(item, id);
        }
        builder.table
    }

    fn look_at(&mut self, item: &'f Item, id: SymbolId) {
        match item {
            Item::Machine(m) => self.machine(id, m),
            Item::Definition(d) => self.definition(id, d),
            Item::Traces(t) => {
                self.item_named(t.of.as_ref());
                for event in t.traces.iter().flat_map(|t| &t.events) {
                    self.event_name(id, t.of.as_ref(), event);
                }
            }
            Item::Property(p) => self.property(id, p),
            Item::Enum(_) => {}
            Item::Record(r) => self.sorts_of(&r.fields),
            Item::Sum(s) => {
                for variant in &s.variants {
                    self.sorts_of(&variant.fields);
                }
            }
            Item::Alias(a) => self.sort(&a.sort),
            Item::Function(f) => {
                self.sorts_of(&f.params);
                self.sort(&f.result);
                for param in &f.params {
                    self.bind_param(param, id);
                }
                self.expr(&f.body);
                for param in f.params.iter().rev() {
                    self.unbind(&param.name.text);
                }
            }
        }
    }

    /// A piece of the text in one line.
    pub(super) fn shown(&self, span: Span) -> String {
        let written = self.text.get(span.start..span.end).unwrap_or_default();
        let mut line = String::new();
        for word in written.split_whitespace() {
            if !line.is_empty() {
                line.push(' ');
            }
            if line.len() + word.len() > MOST_SHOWN {
                line.push('…');
                break;
            }
            line.push_str(word);
        }
        line
    }

    /// Makes a symbol; its name is its first occurrence.
    pub(super) fn symbol(&mut self, new: New<'_>) -> SymbolId {
        let id = SymbolId(self.table.symbols.len() as u32);
        self.table.symbols.push(Symbol {
            name: new.name.text.clone(),
            kind: new.kind,
            word: new.word,
            detail: new.detail,
            place: new.name.span,
            whole: new.whole.to(new.name.span),
            owner: new.owner,
            declared: true,
        });
        self.occurs(new.name.span, &new.name.text, id);
        id
    }

    pub(super) fn undeclared(&mut self, id: SymbolId) {
        self.table.symbols[id.index()].declared = false;
    }

    pub(super) fn get(&self, id: SymbolId) -> &Symbol {
        self.table.get(id)
    }

    /// A name stands here. What a syntax error has left may have the span of something else.
    pub(super) fn occurs(&mut self, span: Span, name: &str, id: SymbolId) {
        let written = self.text.get(span.start..span.end).unwrap_or_default();
        if written == name || written.starts_with('"') {
            self.table.occurrences.push((span, id));
        }
    }

    /// A name that may be that of a declaration.
    pub(super) fn item_named(&mut self, name: Option<&Name>) {
        if let Some(name) = name
            && let Some(&(id, _)) = self.items.get(name.text.as_str())
        {
            self.occurs(name.span, &name.text, id);
        }
    }

    pub(super) fn bind(&mut self, name: &'f str, id: SymbolId, sort: ResolvedSort) {
        self.locals.entry(name).or_default().push((id, sort));
    }

    pub(super) fn unbind(&mut self, name: &str) {
        if let Some(bound) = self.locals.get_mut(name) {
            bound.pop();
        }
    }

    /// What is in scope under a name.
    pub(super) fn local(&self, name: &str) -> Option<&(SymbolId, ResolvedSort)> {
        self.locals.get(name)?.last()
    }

    /// A parameter or variable with its sort, in scope from now on.
    pub(super) fn bind_param(&mut self, param: &'f Param, owner: SymbolId) {
        let id = self.param(param, owner, SymbolKind::Parameter);
        let sort = self.sorts.resolve(&param.sort);
        self.bind(&param.name.text, id, sort);
    }

    /// A name with its sort: a parameter or a field.
    pub(super) fn param(&mut self, param: &Param, owner: SymbolId, kind: SymbolKind) -> SymbolId {
        let word = if kind == SymbolKind::Field {
            "field"
        } else {
            ""
        };
        let detail = format!(": {}", self.shown(param.sort.span));
        self.symbol(New {
            name: &param.name,
            kind,
            word,
            detail,
            whole: param.name.span.to(param.sort.span),
            owner: Some(owner),
        })
    }

    pub(super) fn sorts_of(&mut self, params: &'f [Param]) {
        for param in params {
            self.sort(&param.sort);
        }
    }

    /// The names in a sort.
    pub(super) fn sort(&mut self, sort: &'f Sort) {
        match &sort.kind {
            SortKind::Name(name) => {
                if let Some(&(id, _)) = self.items.get(name.as_str()) {
                    self.occurs(sort.span, name, id);
                }
            }
            SortKind::Array(of) | SortKind::Set(of) => self.sort(of),
            SortKind::Map(key, value) => {
                self.sort(key);
                self.sort(value);
            }
            SortKind::Range(first, last) => {
                self.expr(first);
                self.expr(last);
            }
            SortKind::Bool
            | SortKind::Int
            | SortKind::String
            | SortKind::Decimal(_)
            | SortKind::Error => {}
        }
    }
}
