package server

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
)

// Archiver keeps the exchange's backup.
type Archiver interface {
	// BackUp has what is not backed up yet go there now, rather than at the next look or
	// try; false: there is no backup.
	BackUp() bool
	Backup() Backup
}

// Backup says how far the backup is.
type Backup struct {
	Configured bool    `json:"configured"`
	Shipped    uint64  `json:"shipped_seq"` // last entry of the log that it has
	Lag        float64 `json:"lag_s"`       // seconds that would be lost with the disk
	LastError  *string `json:"last_error"`  // null: all is well
}

func (a *Admin) backup(ctx *fasthttp.RequestCtx) { a.tell(ctx, a.operator.Backup()) }

func (a *Admin) backUp(ctx *fasthttp.RequestCtx) {
	at := time.Now().UTC()
	if !a.operator.BackUp() {
		a.fail(ctx, fault{409, errcode.Conflict, "No backup is configured. Start with --backup-to and where it is to go."})
		return
	}
	ctx.SetStatusCode(fasthttp.StatusAccepted)
	a.tell(ctx, struct {
		WantedAt time.Time `json:"wanted_at"`
	}{at})
}
