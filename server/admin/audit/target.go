package audit

import (
	"strings"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/admin/alerts"
	"pingpost/server/admin/payload"
)

// targetKinds has the kind of target of a route by the first part of its path. Other routes have this
// part itself as their kind.
var targetKinds = map[string]string{
	"campaigns": "campaign", "buyers": "buyer", "suppliers": "supplier", "webhooks": "webhook", "suppression": "suppression_list",
	"suppression_lists": "suppression_list", "deliveries": "lead", "returns": "lead", "leads": "lead", "users": "user",
	"api-tokens": "api_token", "secrets": "secret", "config": "configuration", "erase": "person", "bench": "test_lead",
	"rules": "alert_rule", "channels": "alert_channel", "silences": "alert_silence", "invitations": "invitation",
	"saved-reports": "saved_report", "cluster": "node",
}

// targetKindOf returns the kind of the target of a route, such as "buyer". An entry of the configuration
// has the kind of the entry, and so has a part of the alerts.
func targetKindOf(route string) string {
	parts := strings.Split(strings.TrimPrefix(route, "/admin/v1/"), "/")
	if parts[0] == "config" && len(parts) == 3 || parts[0] == "alerts" && len(parts) > 1 {
		parts = parts[1:]
	}
	if kind := targetKinds[parts[0]]; kind != "" {
		return kind
	}
	return parts[0]
}

// variablesOf returns the names of the variables of a route: lead and how for
// deliveries/{lead}/{how}. The value of the first one is the id of the target.
func variablesOf(route string) (names []string) {
	for part := range strings.SplitSeq(route, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "}"), ":")
			names = append(names, name)
		}
	}
	return names
}

// describeTargetNow returns the target of an operation as JSON without secrets. For most kinds it is
// null if the target does not exist. It is empty if the kind has no description, or the state does not
// have the lead. For an operation on an entry of the configuration it is the entry, and otherwise the
// values that operations change.
func (r *Recorder) describeTargetNow(e *engine.Engine, record *event.OperatorActionRecorded) string {
	kind, id := record.TargetKind, record.Target
	if id == "" {
		return ""
	}
	if _, path, _ := strings.Cut(record.Operation, " "); strings.HasPrefix(path, configPrefix) {
		entries, _, _ := strings.Cut(strings.TrimPrefix(path, configPrefix), "/")
		return r.describeConfigEntryOfKind(entries, id)
	}
	switch kind {
	case "campaign":
		return encodeCampaignOrBuyerWithPaused(e, event.ObjectCampaign, id, map[string]any{})
	case "buyer", "supplier":
		return describeBuyerOrSupplier(e, kind, id)
	case "suppression_list":
		file, ok := e.State().SuppressionListFile(e.State().RefOf(event.ObjectList, id))
		if !ok {
			return "null"
		}
		return encode(map[string]any{"entries": file.Entries, "file": file.File})
	case "webhook":
		status := e.State().OutboxStatus(e.State().RefOf(event.ObjectSupplier, id))
		return encode(map[string]any{"off": status.Off, "dead": status.Dead})
	case "lead":
		return describeLead(e, id)
	case "user":
		user, ok := e.State().OperatorUser(strings.ToLower(id))
		if !ok {
			return "null"
		}
		return encode(map[string]any{"role": user.Role.String(), "changed": payload.FormatTimeWithNanos(user.Changed)})
	case "alert_rule":
		return string(payload.EncodeJSON(e.State().Alerts().Settings().FindRule(id)))
	case "alert_channel":
		return describeAlertChannel(e, id)
	case "saved_report":
		entry, ok := e.State().SavedReports().Find(id)
		if !ok {
			return "null"
		}
		return string(payload.EncodeJSON(&entry.SavedReport))
	case "secret":
		_, stored := e.State().SealedSecret(id)
		return encode(map[string]any{"stored": stored})
	}
	return ""
}

// describeAlertChannel returns a channel of alerts without its secret, and with a masked address,
// because operators below admin read the records.
func describeAlertChannel(e *engine.Engine, id string) string {
	channel := e.State().Alerts().Settings().FindChannel(id)
	if channel == nil {
		return "null"
	}
	shown := *channel
	shown.Sealed, shown.URL = nil, alerts.MaskURL(shown.URL)
	return string(payload.EncodeJSON(&shown))
}

const configPrefix = "/admin/v1/config/"

// describeConfigEntryOfKind returns an entry of the configuration. It replaces an entry above
// maxDocument bytes by its size: the history of the configuration has it.
func (r *Recorder) describeConfigEntryOfKind(entries, id string) string {
	document, ok := r.options.ConfigEntry(entries, id)
	switch {
	case !ok:
		return "null"
	case len(document) <= maxDocument:
		return string(document)
	}
	return encode(map[string]any{"omitted_bytes": len(document)})
}

func describeBuyerOrSupplier(e *engine.Engine, kind, id string) string {
	if kind == "supplier" {
		ref := e.State().RefOf(event.ObjectSupplier, id)
		if ref == 0 {
			return "null"
		}
		return encode(map[string]any{"credentials": credentialHints(e, event.ObjectSupplier, ref)})
	}
	ref := e.State().RefOf(event.ObjectBuyer, id)
	values := map[string]any{"credentials": credentialHints(e, event.ObjectBuyer, ref)}
	if funds := e.State().AppliedBuyerFunds(ref); funds.Opened {
		values["balance"] = funds.Balance
	}
	return encodeCampaignOrBuyerWithPaused(e, event.ObjectBuyer, id, values)
}

// encodeCampaignOrBuyerWithPaused returns the current values of a campaign or buyer as JSON, and adds
// whether it is paused. It returns null if the object does not exist.
func encodeCampaignOrBuyerWithPaused(e *engine.Engine, kind event.ConfigObjectKind, id string, currentValues map[string]any) (jsonOrNull string) {
	ref := e.State().RefOf(kind, id)
	if ref == 0 {
		return "null"
	}
	currentValues["paused"], _ = e.State().PauseStatus(kind, ref)
	return encode(currentValues)
}

// maxDocument is the size in bytes of an entry of the configuration that a record contains. A record has
// two of them.
const maxDocument = 8 << 10

// credentialHints returns the kinds and the hints of the credentials of a supplier or buyer.
func credentialHints(e *engine.Engine, owner event.ConfigObjectKind, ref market.PermanentNumber) []string {
	hints := []string{}
	for _, kind := range []event.SupplierOrBuyerCredentialKind{event.CredentialAPIKey, event.CredentialOAuthClient, event.CredentialBearer} {
		for _, c := range e.State().CredentialsOf(kind, owner, ref) {
			hints = append(hints, strings.TrimSpace(kind.String()+" "+c.Client)+" "+c.Hint)
		}
	}
	return hints
}

func describeLead(e *engine.Engine, id string) string {
	parsed, ok := market.ParseLeadID(id)
	if !ok {
		return "null"
	}
	lead, ok, err := e.State().Lead(parsed)
	if err != nil || !ok {
		return ""
	}
	return encode(map[string]any{"status": lead.Status.String(), "delivery": lead.Delivery.String()})
}

func encode(values map[string]any) string { return string(payload.EncodeJSON(values)) }
