package apidocs

import (
	"github.com/valyala/fasthttp"

	"pingpost/api"
)

// Deprecations holds the headers of deprecated operations, by method and path.
type Deprecations map[string]*api.OperationDeprecation

func operationKey(method, path string) string { return method + " " + path }

// LoadDeprecations returns the deprecations of an OpenAPI document.
func LoadDeprecations(document []byte) Deprecations {
	found, err := api.ParseDeprecations(document)
	if err != nil {
		panic("BUG: the document does not say what it has to of something deprecated: " + err.Error())
	}
	if len(found) == 0 {
		return nil
	}
	all := make(Deprecations, len(found))
	for i := range found {
		all[operationKey(found[i].Method, found[i].Path)] = &found[i]
	}
	return all
}

// WriteHeaders writes the headers of a deprecated operation.
func (e Deprecations) WriteHeaders(ctx *fasthttp.RequestCtx, method, path string) {
	ending := e[operationKey(method, path)]
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
