//! What the page asks for.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_core::Stream;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::command::{Answer, Ask};
use crate::folder::{Kind, Listing, Text};
use crate::refusal::Refusal;
use crate::{Shared, assets, guard};

type Server = State<Arc<Shared>>;

/// Bytes of a request.
const MOST_BYTES: usize = 8 << 20;

/// All routes, behind the guard.
pub(crate) fn routes(shared: &Arc<Shared>) -> Router {
    let guarded = Router::new()
        .route("/", get(assets::page))
        .route("/api/files", get(files))
        .route("/api/journals", get(journals))
        .route("/api/file", get(file).put(save))
        .route("/api/check", post(check))
        .route("/api/show", post(show))
        .route("/api/walk", post(walk))
        .route("/api/relate", post(relate))
        .route("/api/verify", post(verify))
        .route("/api/property", post(property))
        .route("/api/test", post(test))
        .route("/api/test/{id}", post(order))
        .route("/api/test/{id}/events", get(events))
        .route("/api/report", get(report))
        .route("/api/fleet", get(fleet))
        .fallback(nothing)
        .layer(from_fn_with_state(Arc::clone(shared), guard::token))
        .layer(DefaultBodyLimit::max(MOST_BYTES));
    Router::new()
        .route("/assets/{name}", get(asset))
        .merge(guarded)
        .layer(from_fn_with_state(Arc::clone(shared), guard::place))
        .with_state(Arc::clone(shared))
}

async fn nothing() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is nothing here")
}

async fn asset(Path(name): Path<String>) -> Result<Response, Refusal> {
    assets::asset(&name)
}

#[derive(Serialize)]
struct Files {
    #[serde(flatten)]
    listing: Listing,
    /// Whether there is a fleet to be shown.
    fleet: bool,
}

async fn files(State(shared): Server) -> Json<Files> {
    Json(Files {
        listing: shared.folder.list(),
        fleet: shared.fleet.is_some(),
    })
}

/// How far the campaigns of a fleet are.
async fn fleet(State(shared): Server) -> Result<Json<Answer>, Refusal> {
    let Some(fleet) = &shared.fleet else {
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "the page shows no fleet; `iolite serve --nats URL` does",
        ));
    };
    let mut ask = Ask::new(&["fleet", "status", "--json"]).environment("IOLITE_NATS", &fleet.url);
    for flag in &fleet.flags {
        ask = ask.arg(flag.clone());
    }
    shared.commands.answer(ask).await.map(Json)
}

async fn journals(State(shared): Server) -> Json<Listing> {
    Json(shared.folder.journals())
}

#[derive(Deserialize)]
struct FileQuery {
    path: String,
}

async fn file(State(shared): Server, query: Query<FileQuery>) -> Result<Json<Text>, Refusal> {
    shared.folder.read(&query.path).map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Save {
    path: String,
    text: String,
    version: String,
}

async fn save(State(shared): Server, Json(save): Json<Save>) -> Result<Json<Text>, Refusal> {
    let saved = shared.folder.save(&save.path, &save.text, &save.version);
    saved.map(Json)
}

/// A model of the folder, or one that is being edited.
struct Model {
    reference: String,
    /// The edited text, which the command reads from standard input.
    text: Option<String>,
}

impl Model {
    fn new(shared: &Shared, reference: &str, text: Option<String>) -> Result<Self, Refusal> {
        let named = shared.folder.reference(reference)?;
        let reference = match (&text, reference.split_once('#')) {
            (None, _) => named,
            (Some(_), Some((_, name))) => format!("-#{name}"),
            (Some(_), None) => "-".to_owned(),
        };
        Ok(Self { reference, text })
    }
}

/// A word of the command line, such as the name of a relation or a view.
fn word(text: &str) -> Result<&str, Refusal> {
    let fits = |c: char| c.is_ascii_lowercase() || c == '-';
    if text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(fits) {
        Ok(text)
    } else {
        Err(Refusal::request(format!("`{text}` is not a known word")))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    path: String,
    #[serde(default)]
    text: Option<String>,
}

async fn check(State(shared): Server, Json(asked): Json<Check>) -> Result<Json<Answer>, Refusal> {
    let model = Model::new(&shared, &asked.path, asked.text)?;
    let ask = Ask::new(&["check", "--json"])
        .model(model.reference)
        .input(model.text);
    shared.commands.answer(ask).await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Show {
    model: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    view: Option<String>,
    #[serde(default)]
    observer: Option<String>,
    /// States that are drawn as one.
    #[serde(default)]
    collapse: Vec<Vec<u32>>,
    /// Pictures of more states than this are folded.
    #[serde(default)]
    fold: Option<u32>,
}

async fn show(State(shared): Server, Json(asked): Json<Show>) -> Result<Json<Answer>, Refusal> {
    let model = Model::new(&shared, &asked.model, asked.text)?;
    let view = asked.view.as_deref().map(word).transpose()?;
    let observer = asked
        .observer
        .map(|o| shared.folder.reference(&o))
        .transpose()?;
    let mut ask = Ask::new(&["show", "--format", "svg"])
        .flag_if("--view", view)
        .flag_if("--observer", observer)
        .flag_if("--fold", asked.fold.map(|fold| fold.to_string()));
    for group in asked.collapse {
        let numbers: Vec<String> = group.iter().map(u32::to_string).collect();
        ask = ask.flag("--collapse", numbers.join(","));
    }
    let ask = ask.model(model.reference).input(model.text);
    shared.commands.answer(ask).await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WalkAsked {
    model: String,
    #[serde(default)]
    text: Option<String>,
    trace: Vec<String>,
}

async fn walk(
    State(shared): Server,
    Json(asked): Json<WalkAsked>,
) -> Result<Json<Answer>, Refusal> {
    let model = Model::new(&shared, &asked.model, asked.text)?;
    if let Some(wrong) = asked.trace.iter().find(|action| action.starts_with('-')) {
        return Err(Refusal::request(format!("`{wrong}` is not an action")));
    }
    let mut ask = Ask::new(&["simulate", "--json", "--trace"]);
    for action in asked.trace {
        ask = ask.arg(action);
    }
    shared
        .commands
        .answer(ask.arg("--").arg(model.reference).input(model.text))
        .await
        .map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Relate {
    relation: String,
    implementation: String,
    specification: String,
    #[serde(default)]
    complete_inputs: Option<String>,
    #[serde(default)]
    context: Option<String>,
}

async fn relate(State(shared): Server, Json(asked): Json<Relate>) -> Result<Json<Answer>, Refusal> {
    let ask = Ask::new(&["relate", "--json"])
        .flag_if(
            "--complete-inputs",
            asked.complete_inputs.as_deref().map(word).transpose()?,
        )
        .flag_if("--context", asked.context.as_deref().map(word).transpose()?)
        .arg(word(&asked.relation)?)
        .arg(shared.folder.reference(&asked.implementation)?)
        .arg(shared.folder.reference(&asked.specification)?);
    shared.commands.answer(ask).await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verify {
    model: String,
    property: String,
}

async fn verify(State(shared): Server, Json(asked): Json<Verify>) -> Result<Json<Answer>, Refusal> {
    let property = property_reference(&shared, &asked.property)?;
    let ask = Ask::new(&["verify", "--json"])
        .arg(shared.folder.reference(&asked.model)?)
        .flag("--property", property);
    shared.commands.answer(ask).await.map(Json)
}

/// A property of the folder, or a formula.
fn property_reference(shared: &Shared, reference: &str) -> Result<String, Refusal> {
    if reference.starts_with("ltl:") && !reference.contains('\0') {
        return Ok(reference.to_owned());
    }
    shared.folder.reference(reference)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PropertyAsked {
    property: String,
    /// The actions that a formula is over.
    #[serde(default)]
    over: Option<String>,
}

/// Class and testability of a property, its picture and that of its canonical tester.
async fn property(
    State(shared): Server,
    Json(asked): Json<PropertyAsked>,
) -> Result<Json<Value>, Refusal> {
    let property = property_reference(&shared, &asked.property)?;
    let over = asked.over.filter(|over| !over.trim().is_empty());
    if over.as_ref().is_some_and(|over| over.starts_with('-')) {
        return Err(Refusal::request("`over` is a list of actions"));
    }
    let ask = |args: &[&str]| {
        Ask::new(args)
            .arg(property.clone())
            .flag_if("--over", over.clone())
    };
    let class = shared.commands.answer(ask(&["classify", "--json"])).await?;
    let testable = shared.commands.answer(ask(&["testable", "--json"])).await?;
    let picture = shared
        .commands
        .answer(ask(&["show", "--format", "svg"]))
        .await?;
    let tester = shared
        .commands
        .answer(ask(&["tester", "--format", "svg"]))
        .await?;
    Ok(Json(
        json!({ "class": class, "testable": testable, "picture": picture, "tester": tester }),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestAsked {
    model: String,
    /// A description of the folder, or `model:FILE#Name`.
    sut: String,
    runs: u32,
    steps: u32,
    seed: u64,
    #[serde(default)]
    strategy: Option<String>,
    #[serde(default)]
    observer: Option<String>,
    /// Whether it waits for orders at once.
    #[serde(default)]
    paused: bool,
}

/// Starts a test. Programs are started only by descriptions of the folder, never by the request.
async fn test(State(shared): Server, Json(asked): Json<TestAsked>) -> Result<Json<Value>, Refusal> {
    let sut = match asked.sut.strip_prefix("model:") {
        Some(model) => format!("model:{}", shared.folder.reference(model)?),
        None if Kind::of(&asked.sut) == Some(Kind::Description) => {
            shared.folder.reference(&asked.sut)?
        }
        None => {
            return Err(Refusal::request(
                "a system under test is a description (.toml) or a model of the folder",
            ));
        }
    };
    let observer = asked
        .observer
        .map(|o| shared.folder.reference(&o))
        .transpose()?;
    let ask = Ask::new(&["test"])
        .arg(shared.folder.reference(&asked.model)?)
        .flag("--sut", sut)
        .flag("--runs", asked.runs.to_string())
        .flag("--steps", asked.steps.to_string())
        .flag("--seed", asked.seed.to_string())
        .flag_if(
            "--strategy",
            asked.strategy.as_deref().map(word).transpose()?,
        )
        .flag_if("--observer", observer);
    let command = ask.line();
    // An order to pause would come after the first steps.
    let steer = if asked.paused {
        "--steer=paused"
    } else {
        "--steer"
    };
    let ask = ask.flag("--events", "-").arg(steer);
    let id = shared.tests.start(&shared.commands, &ask)?;
    Ok(Json(json!({ "id": id, "command": command })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderAsked {
    order: String,
}

async fn order(
    State(shared): Server,
    Path(id): Path<u64>,
    Json(asked): Json<OrderAsked>,
) -> Result<Json<Value>, Refusal> {
    shared.tests.order(id, &asked.order)?;
    Ok(Json(json!({})))
}

/// Messages as a stream of events for the browser.
struct Messages(mpsc::Receiver<String>);

impl Stream for Messages {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let message = self.0.poll_recv(context);
        message.map(|message| message.map(|text| Ok(Event::default().data(text))))
    }
}

#[derive(Deserialize)]
struct EventsQuery {
    #[serde(default)]
    from: u64,
}

async fn events(
    State(shared): Server,
    Path(id): Path<u64>,
    query: Query<EventsQuery>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let messages = shared.tests.messages(id, query.from)?;
    Ok(Sse::new(Messages(messages)).keep_alive(KeepAlive::default()))
}

#[derive(Deserialize)]
struct ReportQuery {
    journal: String,
}

/// The report of a journal: a page that loads nothing.
async fn report(State(shared): Server, query: Query<ReportQuery>) -> Result<Response, Refusal> {
    let journal = shared.folder.reference(&query.journal)?;
    let ask = Ask::new(&["report"]).arg(journal).flag("-o", "-");
    let answer = shared.commands.answer(ask).await?;
    if answer.exit != Some(0) {
        return Err(Refusal::request(answer.said));
    }
    Ok(([(CONTENT_TYPE, "text/html; charset=utf-8")], answer.text).into_response())
}
