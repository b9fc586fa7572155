package apidocs

import (
	"github.com/valyala/fasthttp"

	"pingpost/api"
)

// Deprecations has the data for the deprecation headers of each deprecated operation, by method
// and path.
type Deprecations map[string]*api.OperationDeprecation

func operationKey(method, path string) string { return method + " " + path }

// LoadDeprecations returns the deprecated operations in an OpenAPI document of this program, or
// nil if there are no such operations.
func LoadDeprecations(openAPIDocument []byte) Deprecations {
	found, err := api.ParseDeprecations(openAPIDocument)
	if err != nil {
		panic("BUG: the OpenAPI document has a deprecated operation with missing or invalid data: " + err.Error())
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

// WriteHeaders adds the headers Deprecation and Link to the answer if the operation is deprecated,
// and Sunset if it has a date of removal.
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
