package server

import (
	"github.com/valyala/fasthttp"

	"pingpost/api"
)

// endings are what answers of deprecated operations say, by the operation: its method
// and its path.
type endings map[string]*api.Ending

func operationOf(method, path string) string { return method + " " + path }

// endingsIn are those of a document.
func endingsIn(document []byte) endings {
	found, err := api.Endings(document)
	if err != nil {
		panic("BUG: the document does not say what it has to of something deprecated: " + err.Error())
	}
	if len(found) == 0 {
		return nil
	}
	all := make(endings, len(found))
	for i := range found {
		all[operationOf(found[i].Method, found[i].Path)] = &found[i]
	}
	return all
}

// tell puts the headers on an answer of a deprecated operation.
func (e endings) tell(ctx *fasthttp.RequestCtx, method, path string) {
	ending := e[operationOf(method, path)]
	if ending == nil {
		return
	}
	header := &ctx.Response.Header
	header.Set("Deprecation", ending.Deprecation)
	header.Set("Link", ending.Link)
	if ending.Sunset != "" {
		header.Set("Sunset", ending.Sunset)
	}
}

// ending has a path say whether it is deprecated, to those who were let in. It cannot for
// secrets and profiles, whose routes take more than one operation.
func (a *Admin) ending(method, path string, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		h(ctx)
		a.endings.tell(ctx, method, path)
	}
}
