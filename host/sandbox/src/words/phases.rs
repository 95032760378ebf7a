//! Converts phases and questions to the WIT's types.

use crate::bindings::wrun::turns::turns as wit;
use contract::{FileCheck, Load, Phase, Question, RubyDocument, StartPhase};

pub(super) fn phase(phase: Phase) -> wit::Phase {
    match phase {
        Phase::Load(load) => wit::Phase::Load(input(*load)),
        Phase::Compile(recipe) => wit::Phase::Compile(recipe),
        Phase::Start(StartPhase { run_id, start_time }) => wit::Phase::Start(wit::RunStart { run_id, start_time }),
        Phase::Event { name, details } => {
            wit::Phase::Event(wit::Event { name: name.to_owned(), details: details.to_string() })
        }
        Phase::Report(status) => wit::Phase::Report(status.to_string()),
        Phase::Exception(status) => wit::Phase::Exception(status.to_string()),
    }
}

fn input(load: Load) -> wit::Load {
    let place = |(cookbook, directory)| wit::CookbookPlace { cookbook, directory };
    wit::Load {
        policy: load.policy,
        cookbooks: load.cookbooks,
        why_run: load.why_run,
        survey: load.survey,
        all_frames: load.all_frames,
        places: load.places.into_iter().map(place).collect(),
        file_cache: load.file_cache,
        run_list: load.run_list,
        primary_run_list: load.primary_run_list,
        environment: load.environment,
    }
}

pub(super) fn question(question: Question) -> wit::Question {
    let document = |RubyDocument { name, file, source }| wit::Document { name, file, source };
    match question {
        Question::Describe => wit::Question::Describe,
        Question::Metadata { cookbook, place } => wit::Question::Metadata(wit::CookbookMetadata { cookbook, place }),
        Question::Check(check) => {
            let FileCheck { cookbook, name, place, file, attributes, properties } = *check;
            let (attributes, properties) = (attributes.to_string(), properties.to_string());
            wit::Question::Check(wit::CookbookFile { cookbook, name, place, file, attributes, properties })
        }
        Question::Role(asked) => wit::Question::Role(document(asked)),
        Question::Environment(asked) => wit::Question::Environment(document(asked)),
        Question::Gems(asked) => wit::Question::Gems(asked.to_string()),
        // A new case would prevent components of the contract's first version from linking, so the question travels as
        // `Gems`.
        Question::Policyfile(RubyDocument { name, file, source }) => {
            let asked = serde_json::json!({ "policyfile": { "name": name, "file": file, "source": source } });
            wit::Question::Gems(asked.to_string())
        }
        Question::ClientSettings(RubyDocument { name, file, source }) => {
            let asked = serde_json::json!({ "client_settings": { "name": name, "file": file, "source": source } });
            wit::Question::Gems(asked.to_string())
        }
    }
}
