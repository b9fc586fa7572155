package exchange

import (
	"pingpost/server/admin"
)

// BackUp has the backup look at once for what it does not have yet; false: none is
// configured.
func (x *Exchange) BackUp() bool {
	if x.Ready() != nil || x.archivist.shipper == nil {
		return false
	}
	x.archivist.shipper.Wake()
	return true
}

// Backup says how far the backup is.
func (x *Exchange) Backup() admin.Backup {
	if x.Ready() != nil || x.archivist.shipper == nil {
		return admin.Backup{}
	}
	now := x.archivist.shipper.Status()
	told := admin.Backup{Configured: true, Shipped: now.Shipped, Lag: now.Lag.Seconds()}
	if now.Err != nil {
		text := now.Err.Error()
		told.LastError = &text
	}
	return told
}
