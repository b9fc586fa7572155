package request

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
)

const (
	maxQueryErrors   = 20 // errors that one answer reports
	maxParameterName = 64 // bytes of a parameter's name in an answer
)

// QueryParameterNameErrors returns an error for each query parameter that is not in knownNames, and for each
// that is repeated, at most maxQueryErrors. Ignoring an unknown parameter would be dangerous: a
// misspelt filter would return all leads.
func QueryParameterNameErrors(ctx *fasthttp.RequestCtx, knownNames ...string) (faults []market.FieldError) {
	if bytes.IndexByte(ctx.Request.Header.RequestURI(), '?') < 0 {
		return nil
	}
	seen := make(map[string]int)
	for name := range ctx.QueryArgs().All() {
		seen[string(name)]++
		var code, expected string
		switch times := seen[string(name)]; {
		case !containsName(knownNames, name) && times == 1:
			code, expected = errcode.FieldUnknownField, formatParameterList(knownNames)
		case containsName(knownNames, name) && times == 2:
			code, expected = errcode.FieldInvalidFormat, "given once"
		default:
			continue
		}
		field := strings.ToValidUTF8(string(name[:min(len(name), maxParameterName)]), "\uFFFD")
		faults = append(faults, market.FieldError{Field: field, Code: code, Expected: expected})
		if len(faults) == maxQueryErrors {
			break
		}
	}
	return faults
}

func containsName(known []string, name []byte) bool {
	for _, one := range known {
		if one == string(name) {
			return true
		}
	}
	return false
}

func formatParameterList(known []string) string {
	if len(known) == 0 {
		return "no query parameter"
	}
	return "a query parameter of " + strings.Join(known, ", ")
}
