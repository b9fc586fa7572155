package audit

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/admin/payload"
	"pingpost/server/admin/person"
)

// recordedMembers lists, by operation, the members of the request's and of the answer's JSON object
// that a record contains. Members that are not listed are never recorded, so that a new secret cannot
// get into the log by mistake. Members with the prefix "mask:" are contact data and recorded masked.
// Those with "id:" are ids of leads; another text is not recorded.
var recordedMembers = map[string]struct{ request, result []string }{
	"PUT /admin/v1/config":                                   {nil, []string{"changes", "unapplied"}},
	"POST /admin/v1/config/drift":                            {[]string{"side", "entries"}, []string{"changes", "unapplied"}},
	"PUT /admin/v1/config/suppliers/{id}":                    {nil, []string{"changes", "unapplied"}},
	"PUT /admin/v1/config/buyers/{id}":                       {nil, []string{"changes", "unapplied"}},
	"PUT /admin/v1/config/campaigns/{id}":                    {nil, []string{"changes", "unapplied"}},
	"PUT /admin/v1/config/suppression_lists/{id}":            {nil, []string{"changes", "unapplied"}},
	"DELETE /admin/v1/config/suppliers/{id}":                 {nil, []string{"changes"}},
	"DELETE /admin/v1/config/buyers/{id}":                    {nil, []string{"changes"}},
	"DELETE /admin/v1/config/campaigns/{id}":                 {nil, []string{"changes"}},
	"DELETE /admin/v1/config/suppression_lists/{id}":         {nil, []string{"changes"}},
	"POST /admin/v1/buyers/{id}/funds":                       {[]string{"amount", "note"}, nil},
	"POST /admin/v1/returns/{lead}":                          {[]string{"approve"}, nil},
	"POST /admin/v1/suppliers/{id}/keys":                     {[]string{"replaces"}, []string{"hint"}},
	"POST /admin/v1/suppliers/{id}/clients/{client}/secrets": {[]string{"scopes", "replaces"}, []string{"hint"}},
	"POST /admin/v1/buyers/{id}/clients/{client}/secrets":    {[]string{"scopes", "replaces"}, []string{"hint"}},
	"POST /admin/v1/suppliers/{id}/tokens":                   {[]string{"scopes"}, []string{"id", "hint"}},
	"POST /admin/v1/buyers/{id}/tokens":                      {[]string{"scopes"}, []string{"id", "hint"}},
	"PUT /admin/v1/users/{name}":                             {[]string{"role"}, nil},
	"POST /admin/v1/api-tokens":                              {[]string{"name", "role", "expires_in"}, []string{"id", "hint", "role", "expires_at"}},
	"POST /admin/v1/alerts/silences":                         {[]string{"rule", "subject", "until", "note"}, []string{"id"}},
	"POST /admin/v1/saved-reports":                           {[]string{"name", "query", "schedule"}, []string{"id"}},
	"POST /admin/v1/saved-reports/{id}/send":                 {[]string{"recipients"}, []string{"sent", "error"}},
	"POST /admin/v1/invitations":                             {[]string{"name", "role", "expires_in"}, []string{"id", "expires_at"}},
	"POST /admin/v1/campaigns/{id}/instructions/link":        {[]string{"supplier", "expires_in"}, []string{"expires_at"}},
	"POST /admin/v1/bench":                                   {[]string{"campaign", "supplier"}, []string{"status", "lead"}},
	"POST /admin/v1/erase":                                   {[]string{"id:lead", "mask:phone", "mask:email"}, []string{"erased", "left"}},
	"POST /admin/v1/leads/find":                              {[]string{"mask:phone", "mask:email"}, nil},
	"POST /admin/v1/leads/{id}/reveal":                       {[]string{"reason"}, nil},
	"PUT /admin/v1/suppression/{id}":                         {nil, []string{"entries", "duplicates", "skipped"}},
	"POST /admin/v1/webhooks/{id}/resend":                    {nil, []string{"resent"}},
	handOverOperation:                                        {[]string{"to"}, nil},
}

const (
	maskPrefix  = "mask:" // contact data
	idPrefix    = "id:"   // a lead's id; a person may have sent contact data in its place
	maxPathText = 256     // bytes; ids have at most 64, names of secrets a little more
	// maxMember is the greatest size in bytes of a member in a record; maxChanges is that of a list.
	maxMember  = 2 << 10
	maxChanges = 8 << 10
)

// recordedRequestValues returns the recorded members of the request's body, its parameter mode, and the
// variables of its path except the first one, which is the target. The text is empty if there are none.
func recordedRequestValues(ctx *fasthttp.RequestCtx, operation string, variables []string) string {
	values := selectAndMaskMembers(payload.RequestBody(ctx), recordedMembers[operation].request)
	for i, name := range variables {
		if i > 0 {
			values[name] = cut(payload.PathParameter(ctx, name))
		}
	}
	if mode := ctx.QueryArgs().Peek("mode"); len(mode) > 0 {
		values["mode"] = cut(string(mode))
	}
	return encodeUnlessEmpty(values)
}

// cut returns a copy of the text's first maxPathText bytes: a path may be as long as the head of a request.
func cut(text string) string {
	return strings.ToValidUTF8(strings.Clone(text[:min(len(text), maxPathText)]), "")
}

func encodeUnlessEmpty(values map[string]any) string {
	if len(values) == 0 {
		return ""
	}
	return encode(values)
}

// recordedResultValues returns the recorded members of the answer as JSON. The text is empty without
// such members, and for a streamed answer or an error.
func recordedResultValues(ctx *fasthttp.RequestCtx, operation string) string {
	if ctx.Response.IsBodyStream() || ctx.Response.StatusCode() >= fasthttp.StatusBadRequest {
		return ""
	}
	return encodeUnlessEmpty(selectAndMaskMembers(ctx.Response.Body(), recordedMembers[operation].result))
}

// selectAndMaskMembers returns these members of a JSON object, with long values shortened. It masks
// contact data, and replaces a text that should be a lead's id but is not. The map is empty if the
// document is no object.
func selectAndMaskMembers(document []byte, names []string) map[string]any {
	chosen := make(map[string]any, len(names))
	var all map[string]json.RawMessage
	if len(names) == 0 || json.Unmarshal(document, &all) != nil {
		return chosen
	}
	for _, name := range names {
		plain, isContact := strings.CutPrefix(name, maskPrefix)
		plain, isLeadID := strings.CutPrefix(plain, idPrefix)
		value := findMember(all, plain)
		if value == nil || string(value) == "null" {
			continue
		}
		chosen[plain] = shorten(value)
		var text string
		if isContact || isLeadID {
			_ = json.Unmarshal(value, &text) // another type becomes an empty text
		}
		switch {
		case isContact:
			chosen[plain] = person.MaskForAuditLog(text[:min(len(text), maxMember)])
		case isLeadID:
			chosen[plain] = leadIDOrInvalid(text)
		}
	}
	return chosen
}

// invalidLeadID is in a record in place of a text that is no lead's id.
const invalidLeadID = "(no lead id)"

// leadIDOrInvalid returns the text if it is a lead's id, and invalidLeadID otherwise. Other texts could
// be contact data, which an erasure cannot remove from the records.
func leadIDOrInvalid(text string) string {
	if _, ok := market.ParseLeadID(text); !ok {
		return invalidLeadID
	}
	return text
}

// findMember returns the member with this name in any case, or nil: a handler accepts the name of a
// field in any case, and rejects an object with two of them.
func findMember(object map[string]json.RawMessage, name string) json.RawMessage {
	for key, value := range object {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return nil
}

// EncodeChanges returns changes of the configuration as the result of a record.
func EncodeChanges(changes []string) string {
	return encode(map[string]any{"changes": shorten(payload.EncodeJSON(changes))})
}

// shorten returns a JSON value of limited size. Of a long list it keeps the first elements, and adds
// the number of the others. It keeps the beginning of a long text, without spaces around it, so that
// padding hides no reason. It replaces another long value by its size.
func shorten(value json.RawMessage) any {
	if len(value) <= maxMember {
		return value
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		text = strings.TrimSpace(text)
		if len(text) <= maxMember {
			return text
		}
		return map[string]any{"first": strings.ToValidUTF8(text[:maxMember], ""), "omitted_bytes": len(text) - maxMember}
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return map[string]int{"omitted_bytes": len(value)}
	}
	kept, size := slices.Clone(list), 0
	for i := range list {
		if size += len(list[i]); size > maxChanges {
			kept = kept[:i]
			break
		}
	}
	if len(kept) == len(list) {
		return kept
	}
	return map[string]any{"first": kept, "omitted": len(list) - len(kept)}
}
