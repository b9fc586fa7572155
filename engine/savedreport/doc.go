// Package savedreport has the report queries that operators save under a name, their schedules, and
// the table of them that events change.
//
// A schedule has moments at which the report is sent by e-mail. The package computes them from a time
// and a zone; it has no clock. docs/saved-reports.md describes the behavior for operators.
package savedreport
