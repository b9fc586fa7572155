// Package savedreports has the operations of the admin API on saved reports: report queries under a
// name, and their schedules for e-mail.
package savedreports
