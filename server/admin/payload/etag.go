package payload

import (
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
)

// ReadExpectedETag returns the ETag of the version on which the operator based a change, from the
// header If-Match. With mayCreate, If-None-Match: * is accepted for a new entry instead, and the ETag
// is empty. So operators cannot overwrite each other's changes by mistake.
func ReadExpectedETag(ctx *fasthttp.RequestCtx, mayCreate bool) (etag string, err error) {
	match := string(ctx.Request.Header.Peek("If-Match"))
	fresh := string(ctx.Request.Header.Peek("If-None-Match"))
	switch etag = strings.Trim(strings.TrimPrefix(match, "W/"), `"`); {
	case etag != "" && etag != "*" && fresh == "":
		return etag, nil
	case match == "" && fresh == "*" && mayCreate:
		return "", nil
	}
	return "", NewInvalidFieldError("If-Match", errcode.FieldMissingRequired,
		"the etag of the version that this change is based on, as GET returns it; or If-None-Match: * for a new entry")
}
