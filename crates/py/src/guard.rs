//! A broken law of the engine is a panic; users get its text as an error, developers the place it came from.
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, PoisonError};

/// Text and place of the first panic since the last [`catch`]. Kept here because a worker thread's panic reaches
/// the caller without them.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

/// Keeps panics from printing to standard error; `TAILBACK_DEBUG` lets them print as well.
pub fn install() {
    let print = std::env::var_os("TAILBACK_DEBUG").is_some().then(take_hook);
    set_hook(Box::new(move |info| {
        first().get_or_insert_with(|| describe(info));
        if let Some(print) = &print {
            print(info);
        }
    }));
}

/// Calls `work`; a panic in it, or in a thread it waits for, comes back as a text.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    first().take();
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| first().take().unwrap_or_else(|| "the engine stopped without a reason".into()))
}

fn first() -> std::sync::MutexGuard<'static, Option<String>> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no text");
    match info.location() {
        Some(place) => format!("{text} (broken law in the engine, {}:{})", place.file(), place.line()),
        None => format!("{text} (broken law in the engine)"),
    }
}
