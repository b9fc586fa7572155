package servertest

import (
	"regexp"
	"slices"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/server/apidocs"
)

// DeprecateAllOperations marks every operation of an OpenAPI document as deprecated, with these extra
// fields, and returns the resulting deprecations.
func DeprecateAllOperations(t *testing.T, document []byte, extraFields string) apidocs.Deprecations {
	t.Helper()
	marked := regexp.MustCompile(`(?m)^      operationId:.*$`).ReplaceAll(document, []byte("$0\n      deprecated: true\n"+extraFields))
	return apidocs.LoadDeprecations(marked)
}

const (
	Deprecated           = "      x-deprecated: '2027-01-31'\n      externalDocs: {url: 'https://x.example/how'}\n"
	DeprecatedWithSunset = Deprecated + "      x-sunset: '2028-02-01'\n"
	wantLink             = `<https://x.example/how>; rel="deprecation"`
)

// HasExpectedDeprecationHeaders reports whether an answer has exactly the headers that the fields
// Deprecated or DeprecatedWithSunset cause. sunset is the expected Sunset header, or absent.
func HasExpectedDeprecationHeaders(header map[string][]string, sunset ...string) bool {
	return slices.Equal(header["Deprecation"], []string{"@1801353600"}) && slices.Equal(header["Link"], []string{wantLink}) && slices.Equal(header["Sunset"], sunset)
}

// CallHandler calls a handler with a request without a body and without a connection, and
// returns the answer's status and headers.
func CallHandler(handle fasthttp.RequestHandler, method, path, authorization string) (status int, header map[string][]string) {
	var request fasthttp.Request
	request.Header.SetMethod(method)
	request.SetRequestURI(path)
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	var ctx fasthttp.RequestCtx
	ctx.Init(&request, nil, nil)
	handle(&ctx)
	header = map[string][]string{}
	for name, value := range ctx.Response.Header.All() {
		header[string(name)] = append(header[string(name)], string(value))
	}
	return ctx.Response.StatusCode(), header
}
