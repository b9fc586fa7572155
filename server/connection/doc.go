// Package connection accepts connections: it limits their number, evicts idle ones that
// have shown no valid credential, speaks TLS, applies deadlines, and watches the bytes for
// bare line feeds that the HTTP library accepts.
package connection
