// Package metrics counts events of the exchange for Prometheus and for the overview of
// the dashboard. Meter implements engine.Observer.
package metrics
