package public

import (
	"net/url"
	"slices"
	"strings"
)

// plainToken is the model of a token request of the client acme with the scopes ping and
// post.
func plainToken(body []byte, form bool) (status int, code, scope string) {
	said, ok := plainParameters(body, form)
	switch {
	case len(body) > 64<<10:
		return 413, "payload_too_large", ""
	case !ok:
		return 400, "invalid_request", ""
	case said["client_id"] != "acme" && said["client_id"] != "blue",
		said["client_secret"] != "secret-of-"+said["client_id"]:
		return 401, "invalid_client", ""
	case said["grant_type"] == "":
		return 400, "invalid_request", ""
	case said["grant_type"] != "client_credentials":
		return 400, "unsupported_grant_type", ""
	}
	has := []string{"ping", "post"}
	if said["client_id"] == "blue" {
		has = []string{"webhook"}
	}
	var given []string
	for name := range strings.SplitSeq(said["scope"], " ") {
		if name != "" && !slices.Contains(has, name) {
			return 400, "invalid_scope", ""
		}
	}
	for _, name := range has {
		if wanted := strings.Split(said["scope"], " "); strings.Trim(said["scope"], " ") == "" || slices.Contains(wanted, name) {
			given = append(given, name)
		}
	}
	return 200, "", strings.Join(given, " ")
}

// plainParameters parses a body in either form.
func plainParameters(body []byte, form bool) (said map[string]string, ok bool) {
	said = map[string]string{}
	if form {
		pairs, err := url.ParseQuery(string(body))
		for name, values := range pairs {
			if len(values) > 1 {
				return nil, false
			}
			said[name] = values[0]
		}
		return said, err == nil && strings.Count(string(body), "&") < 32
	}
	object, why := strictly(body, false)
	for _, name := range []string{"grant_type", "client_id", "client_secret", "scope"} {
		value, there := object[name]
		text, isText := value.(string)
		if there && value != nil && !isText {
			return nil, false
		}
		said[name] = text
	}
	return said, why == ""
}
