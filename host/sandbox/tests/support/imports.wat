(import "wrun:machine/files@0.2.0" (instance $files
    (type (record (field "name" string) (field "about" string)))
    (export "system-error" (type (eq 0)))
    (type (variant (case "denied" string) (case "dry-run" string) (case "system" 1) (case "too-much" string)))
    (export "machine-error" (type (eq 2)))
    (type (list string))
    (type (result 4 (error 3)))
    (type (func (param "path" string) (result 5)))
    (export "list-directory" (func (type 6)))))
(import "wrun:turns/turns@0.2.0" (instance $turns
    (type $raised-shape
        (record (field "class" string) (field "message" string) (field "passed" (list string)) (field "backtrace"
            (list string)) (field "object" (option u32)) (field "hint" (option string))))
    (export "raised" (type $raised (eq $raised-shape)))
    (type $cookbook-place-shape
        (record (field "cookbook" string) (field "directory" string)))
    (export "cookbook-place" (type $cookbook-place (eq $cookbook-place-shape)))
    (type $load-shape
        (record (field "policy" string) (field "cookbooks" (list string)) (field "why-run" bool)
            (field "survey" bool) (field "all-frames" bool) (field "places" (list $cookbook-place))
            (field "file-cache" (option string)) (field "run-list" (list string)) (field "primary-run-list" (option
            (list string))) (field "environment" string)))
    (export "load" (type $load (eq $load-shape)))
    (type $run-start-shape
        (record (field "run-id" string) (field "start-time" s64)))
    (export "run-start" (type $run-start (eq $run-start-shape)))
    (type $event-shape
        (record (field "name" string) (field "details" string)))
    (export "event" (type $event (eq $event-shape)))
    (type $phase-shape
        (variant (case "load" $load) (case "compile" string) (case "start" $run-start) (case "event" $event)
            (case "report" string) (case "exception" string)))
    (export "phase" (type $phase (eq $phase-shape)))
    (type $cookbook-metadata-shape
        (record (field "cookbook" string) (field "place" string)))
    (export "cookbook-metadata" (type $cookbook-metadata (eq $cookbook-metadata-shape)))
    (type $cookbook-file-shape
        (record (field "cookbook" string) (field "name" string) (field "place" (option string))
            (field "file" string) (field "attributes" string) (field "properties" string)))
    (export "cookbook-file" (type $cookbook-file (eq $cookbook-file-shape)))
    (type $document-shape
        (record (field "name" string) (field "file" string) (field "source" string)))
    (export "document" (type $document (eq $document-shape)))
    (type $question-shape
        (variant (case "describe") (case "metadata" $cookbook-metadata) (case "check" $cookbook-file)
            (case "role" $document) (case "environment" $document) (case "gems" string)))
    (export "question" (type $question (eq $question-shape)))
    (type $evaluation-shape
        (record (field "callback" u32) (field "input" (option string))))
    (export "evaluation" (type $evaluation (eq $evaluation-shape)))
    (type $action-call-shape
        (record (field "id" u32) (field "action" string) (field "context" u32) (field "why-run" bool)))
    (export "action-call" (type $action-call (eq $action-call-shape)))
    (type $request-shape
        (variant (case "run" $phase) (case "ask" $question) (case "evaluate" $evaluation) (case "act" $action-call)
            (case "inspect" u32) (case "forget" u32)))
    (export "request" (type $request (eq $request-shape)))
    (type $numbered-request-shape
        (record (field "number" u32) (field "request" $request)))
    (export "numbered-request" (type $numbered-request (eq $numbered-request-shape)))
    (type $answer-shape
        (variant (case "finished") (case "value" string) (case "content" (list u8)) (case "failed" $raised)))
    (export "answer" (type $answer (eq $answer-shape)))
    (type $numbered-answer-shape
        (record (field "number" u32) (field "answer" $answer)))
    (export "numbered-answer" (type $numbered-answer (eq $numbered-answer-shape)))
    (type $resource-action-shape
        (record (field "id" u32) (field "action" string)))
    (export "resource-action" (type $resource-action (eq $resource-action-shape)))
    (type $task-shape
        (variant (case "converge" u32) (case "run-action" $resource-action) (case "include-recipe" string)
            (case "close-context" u32) (case "abandon-context" u32)))
    (export "task" (type $task (eq $task-shape)))
    (type $guest-message-shape
        (variant (case "ready") (case "answer" $numbered-answer) (case "task" $task)))
    (export "guest-message" (type $guest-message (eq $guest-message-shape)))
    (type $host-message-shape
        (variant (case "request" $numbered-request) (case "done" (result (error $raised)))))
    (export "host-message" (type $host-message (eq $host-message-shape)))
    (type $turn-shape
        (record (field "attributes-version" u64) (field "message" $host-message)))
    (export "turn" (type $turn (eq $turn-shape)))
    (export "next" (func (param "message" $guest-message) (result $turn)))))
