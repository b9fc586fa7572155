// Package payload reads the requests of the admin API and writes its answers: JSON bodies, errors of
// single fields, and times. The handlers of all parts of the admin API share it.
package payload
