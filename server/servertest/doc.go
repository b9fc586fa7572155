// Package servertest holds helpers for tests of the public and the admin address: bare
// connections, an engine over a log in memory, and checks against the OpenAPI documents.
package servertest
