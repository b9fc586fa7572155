// Package alerts has the operations of the admin API on alerts: rules, channels of notifications,
// silences, the alerts that fire, and their history.
package alerts
