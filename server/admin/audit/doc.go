// Package audit records the actions of operators in the exchange's log, and searches and exports
// these records. DESIGN.md has the reasons.
//
// Recorder.Begin makes a record durable before an action runs, and Action.End adds the outcome. A
// record has the operator, the kind of credential, the client's address, the operation, its target,
// and the target before and after. It has no secrets and no contact data: recordedMembers lists the
// only members of requests and answers that a record may have.
package audit
