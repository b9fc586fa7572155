package server

import (
	"net/http/pprof"
	profiles "runtime/pprof"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	"pingpost/api/errcode"
	"pingpost/engine/market"
)

var faultProfile = fault{503, errcode.Unavailable, "The profile could not be taken; another may be under way. Ask again after the time in Retry-After."}

// profile serves Go's profiles. What goes wrong is told in the interface's form.
func (a *Admin) profile(ctx *fasthttp.RequestCtx) {
	switch name := parameter(ctx, "name"); {
	case name == "profile":
		fasthttpadaptor.NewFastHTTPHandlerFunc(pprof.Profile)(ctx)
	case name == "trace":
		fasthttpadaptor.NewFastHTTPHandlerFunc(pprof.Trace)(ctx)
	case name == "", profiles.Lookup(name) != nil:
		fasthttpadaptor.NewFastHTTPHandlerFunc(pprof.Index)(ctx)
	default: // the command line, too: it may have secrets
		a.fail(ctx, faultNotFound)
		return
	}
	switch status := ctx.Response.StatusCode(); {
	case status >= fasthttp.StatusInternalServerError:
		ctx.Response.Reset() // of what the library has said
		a.fail(ctx, faultProfile)
	case status >= fasthttp.StatusBadRequest:
		ctx.Response.Reset()
		a.fail(ctx, faultPayload, market.FieldError{Field: "seconds", Code: errcode.FieldInvalidFormat, Expected: "a number of seconds, for a profile that has a duration, and no debug beside it"})
	}
}
