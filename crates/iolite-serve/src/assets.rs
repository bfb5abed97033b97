//! The page itself, built into the program.

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::refusal::Refusal;

const PAGE: &str = include_str!("../../../web/serve/index.html");

/// Nothing is loaded from elsewhere, nothing inline is executed, nobody frames the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Scripts and style sheets, by name.
const ASSETS: [(&str, &str, &str); 9] = [
    (
        "page.css",
        "text/css; charset=utf-8",
        include_str!("../../../web/serve/page.css"),
    ),
    (
        "main.js",
        SCRIPT,
        include_str!("../../../web/serve/main.js"),
    ),
    ("api.js", SCRIPT, include_str!("../../../web/serve/api.js")),
    (
        "graph.js",
        SCRIPT,
        include_str!("../../../web/serve/graph.js"),
    ),
    (
        "walk.js",
        SCRIPT,
        include_str!("../../../web/serve/walk.js"),
    ),
    (
        "relate.js",
        SCRIPT,
        include_str!("../../../web/serve/relate.js"),
    ),
    (
        "live.js",
        SCRIPT,
        include_str!("../../../web/serve/live.js"),
    ),
    (
        "reports.js",
        SCRIPT,
        include_str!("../../../web/serve/reports.js"),
    ),
    (
        "edit.js",
        SCRIPT,
        include_str!("../../../web/serve/edit.js"),
    ),
];

/// The page.
pub(crate) async fn page() -> Response {
    let headers = [
        (CONTENT_TYPE.as_str(), "text/html; charset=utf-8"),
        ("content-security-policy", POLICY),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        (CACHE_CONTROL.as_str(), "no-store"),
    ];
    (headers, PAGE).into_response()
}

/// A script or style sheet.
pub(crate) fn asset(name: &str) -> Result<Response, Refusal> {
    let found = ASSETS.iter().find(|(known, _, _)| *known == name);
    let Some((_, kind, text)) = found else {
        return Err(Refusal::new(StatusCode::NOT_FOUND, "there is no such file"));
    };
    let headers = [
        (CONTENT_TYPE.as_str(), *kind),
        ("x-content-type-options", "nosniff"),
        (CACHE_CONTROL.as_str(), "no-store"),
    ];
    Ok((headers, *text).into_response())
}
