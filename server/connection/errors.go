package connection

import (
	"pingpost/api/errcode"
	"pingpost/server/httperror"
)

var errTooManyConnections = httperror.New(503, errcode.Unavailable, "Too many connections are open. Use fewer connections, reuse them, and try again after the time in Retry-After.")
