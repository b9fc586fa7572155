// Package alerting runs the alerts of an exchange. Every 15 seconds it measures the values of all
// rules, records the alerts that fire or resolve, and sends the notifications.
//
// It reads counters and tables as a dashboard does, so requests do not wait for it. DESIGN.md of
// engine/alert says which locks it takes.
package alerting
