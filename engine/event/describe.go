package event

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// DescribeAsJSON returns the main values of the event as a JSON object, for a person who reads a
// log. It leaves out secrets and personal data. It shows only the length of sealed (encrypted)
// parts, and only the first bytes of auction names, which are hashes. Most members with the value
// zero, false or an empty text are missing. The member names are part of the output format and
// never change.
func DescribeAsJSON(e Event) string {
	return string(append(membersOf(e), jsonMember{"by", RequestingOperator(e)}).encodeWithoutZeros())
}

// membersOf returns the members that describe the event, except the requesting operator.
func membersOf(e Event) jsonMembers {
	switch e := e.(type) {
	case *ExchangeFounded:
		return jsonMembers{{"epoch", hex.EncodeToString(e.Epoch[:])}}
	case *ConfigObjectNumbersAssigned:
		return jsonMembers{{"names", jsonList(e.Names, nameAssignmentAsJSON)}, {"caps", len(e.Caps)}}
	case *ConfigActivated:
		return jsonMembers{{"version", e.Version}, {"document", e.Document}, {"overlay", e.Overlay}, {"from", e.From}}
	case *CredentialAddedOrRevoked:
		return jsonMembers{
			{"credential", e.Credential},
			{"owner_kind", e.Owner},
			{"owner", e.OwnerRef},
			{"client", e.Client},
			{"scopes", e.Scopes},
			{"hint", e.Hint},
			{"revoked", e.Revoked},
		}
	case *SecretStoredOrDeleted:
		return jsonMembers{{"name", e.Name}, {"sealed_bytes", len(e.Sealed)}}
	case *LeadDecided:
		return leadDecidedMembers(e)
	case *PingAuctionCompleted:
		return pingAuctionMembers(e)
	case *PostAttemptFailed:
		return jsonMembers{
			{"lead", e.Lead},
			{"attempt", e.Attempt},
			{"status", e.Status},
			{"fault", textUnlessZero(e.Fault)},
			{"verdict", textUnlessZero(e.Verdict)},
			{"code", e.Code},
			{"free", e.KeepsAttempt},
		}
	case *PostSettled:
		return postSettledMembers(e)
	case *BuyerFundsAdjusted:
		return jsonMembers{{"buyer", e.Buyer}, {"amount", e.Amount}, {"opening", e.Opening}}
	case *CampaignOrBuyerPausedOrResumed:
		return jsonMembers{{"door", e.Target}, {"ref", e.Ref}, {"paused", e.Paused}}
	case *SuppressionListContentLoaded:
		return jsonMembers{{"list", e.List}, {"file", e.File}, {"entries", e.Entries}, {"uploaded", e.Uploaded}}
	case *LeadStatusChangesDecided:
		return jsonMembers{{"request", e.Request}, {"buyer", e.Buyer}, {"changes", jsonList(e.Changes, statusChangeAsJSON)}}
	case *WebhookAttemptedOrDecided:
		return webhookAttemptedOrDecidedMembers(e)
	case *SupplierWebhooksTurnedOnOrOff:
		return jsonMembers{{"supplier", e.Supplier}, {"off", e.Off}}
	case *PersonalDataOfLeadsErased:
		return jsonMembers{
			{"leads", jsonList(e.Leads, func(lead *market.LeadID) encodedJSON { return encodedJSON(strconv.Quote(lead.String())) })},
			{"slots", jsonList(e.Slots, func(slot *uint64) encodedJSON { return encodedJSON(strconv.FormatUint(*slot, 10)) })},
		}
	}
	return membersOfOperatorAlertOrReportEvent(e)
}

// membersOfOperatorAlertOrReportEvent returns the members that describe an event of operators' accounts
// and actions, of alerts, or of saved reports and their mails. For other events it returns nil.
func membersOfOperatorAlertOrReportEvent(e Event) jsonMembers {
	switch e := e.(type) {
	case *UserAccountChanged:
		return jsonMembers{{"user", e.Name}, {"role", e.Role}, {"removed", e.Removed}, {"invited", e.Invitation != [32]byte{}}}
	case *APITokenAddedOrRevoked:
		return jsonMembers{{"user", e.User}, {"name", e.Name}, {"role", e.Role}, {"hint", e.Hint}, {"revoked", e.Revoked}}
	case *OperatorActionRecorded:
		return operatorActionMembers(e)
	case *AlertSettingsChanged:
		return jsonMembers{{"document_bytes", len(e.Document)}}
	case *AlertOrNotificationChanged:
		return alertOrNotificationMembers(e)
	case *InvitationCreatedOrRevoked:
		return jsonMembers{{"name", e.Name}, {"role", e.Role}, {"revoked", e.Revoked}}
	case *UserSecondFactorChangedOrUsed:
		return jsonMembers{{"user", e.User}, {"change", e.Change}}
	case *SavedReportChanged:
		return jsonMembers{{"id", e.ID}, {"document_bytes", len(e.Document)}, {"removed", len(e.Document) == 0}}
	case *ReportMailEnded:
		return jsonMembers{{"report", e.Report}, {"moment", time.Unix(0, e.Moment).UTC().Format(time.RFC3339)}, {"outcome", e.Outcome}, {"requested", e.Requested}, {"error", e.Error}}
	}
	return nil
}

// jsonMember is a member of a JSON object. Its value is a boolean, a text, a number, a type with a
// String method, or finished JSON (encodedJSON). encodeWithoutZeros leaves out false, an empty text and
// the number zero.
type jsonMember struct {
	name  string
	value any
}

// jsonMembers are the members of one JSON object.
type jsonMembers []jsonMember

// encodedJSON is the finished JSON of a value, which encodeWithoutZeros inserts unchanged. If it is
// empty, encodeWithoutZeros leaves the member out.
type encodedJSON string

func (members jsonMembers) encodeWithoutZeros() encodedJSON {
	var shown []string
	for _, m := range members {
		if value := m.encodeValueUnlessZero(); value != "" {
			shown = append(shown, strconv.Quote(m.name)+":"+value)
		}
	}
	return encodedJSON("{" + strings.Join(shown, ",") + "}")
}

func (m *jsonMember) encodeValueUnlessZero() string {
	text := ""
	switch v := m.value.(type) {
	case encodedJSON:
		return string(v)
	case string:
		text = v
	case fmt.Stringer:
		text = v.String()
	default:
		if !reflect.ValueOf(v).IsZero() {
			return fmt.Sprint(v)
		}
	}
	if text == "" {
		return ""
	}
	return string(escape.AppendJSONString(nil, []byte(text)))
}

// jsonList returns a JSON list. elementAsJSON returns the finished JSON of one element.
func jsonList[T any](list []T, elementAsJSON func(*T) encodedJSON) encodedJSON {
	all := make([]string, len(list))
	for i := range list {
		all[i] = string(elementAsJSON(&list[i]))
	}
	return encodedJSON("[" + strings.Join(all, ",") + "]")
}

// jsonListUnlessEmpty returns a JSON list, or an empty text for an empty list.
func jsonListUnlessEmpty[T any](list []T, elementAsJSON func(*T) encodedJSON) encodedJSON {
	if len(list) == 0 {
		return ""
	}
	return jsonList(list, elementAsJSON)
}

// textUnlessZero returns the text (String) of an enum's value, an identifier or an amount. For the
// zero value it returns an empty text.
func textUnlessZero[T interface {
	comparable
	fmt.Stringer
}](v T) string {
	var zero T
	if v == zero {
		return ""
	}
	return v.String()
}

// amountUnlessZero returns an amount as a JSON number, or an empty text for zero.
func amountUnlessZero(amount market.Money) encodedJSON { return encodedJSON(textUnlessZero(amount)) }

func webhookAttemptedOrDecidedMembers(e *WebhookAttemptedOrDecided) jsonMembers {
	return jsonMembers{
		{"lead", e.Lead},
		{"type", e.Type},
		{"supplier", e.Supplier},
		{"attempt", e.Attempt},
		{"outcome", e.Outcome},
		{"status", e.Status},
		{"fault", textUnlessZero(e.Fault)},
	}
}

func alertOrNotificationMembers(e *AlertOrNotificationChanged) jsonMembers {
	return jsonMembers{
		{"transition", e.Transition},
		{"rule", e.Rule},
		{"subject", e.Subject},
		{"value", amountUnlessZero(market.Money(e.Value))},
		{"threshold", amountUnlessZero(market.Money(e.Threshold))},
		{"of", e.Of},
		{"error", e.Error},
	}
}

func leadDecidedMembers(e *LeadDecided) jsonMembers {
	return jsonMembers{
		{"lead", e.Lead},
		{"request", e.Request},
		{"campaign", e.Campaign},
		{"supplier", e.Supplier},
		{"catalog", e.Catalog},
		{"reason", e.Reason},
		{"duplicate_of", textUnlessZero(e.DuplicateOf)},
		{"trail", filterSetsByOutcomeAsJSON(e.Trail)},
		saleOrTestMember("sale", &e.Sale),
		{"post", escape.RewritePlaceholdersForDisplay(e.Post.URL)},
		{"auction", textUnlessZero(e.Auction.ID)},
		{"bids", jsonListUnlessEmpty(e.Auction.Bids, bidAsJSON)},
		{"sealed_bytes", len(e.Sealed)},
		{"slot", e.Slot},
		{"hook", textUnlessZero(e.Webhook)},
	}
}

func postSettledMembers(e *PostSettled) jsonMembers {
	return jsonMembers{
		{"lead", e.Lead},
		{"settlement", e.Settlement},
		saleOrTestMember("sale", &e.Sale),
		{"status", e.Status},
		{"fault", textUnlessZero(e.Fault)},
		{"attempts", e.Attempts},
		{"buyer_lead", e.BuyerLead},
		{"code", e.Code},
		{"reason", e.Reason},
		{"trail", filterSetsByOutcomeAsJSON(e.Trail)},
		saleOrTestMember("next", &e.Next),
		{"sealed_bytes", len(e.Sealed)},
		{"slot", e.Slot},
		{"hook", textUnlessZero(e.Webhook)},
	}
}

// pingAuctionMembers returns the members that describe an auction. Of the lead's fields it has only
// the number. It leaves out every token, because a token allows its holder to sell or buy at the
// bid.
func pingAuctionMembers(e *PingAuctionCompleted) jsonMembers {
	return jsonMembers{
		{"auction", e.Auction},
		{"request", e.Request},
		{"campaign", e.Campaign},
		{"supplier", e.Supplier},
		{"catalog", e.Catalog},
		{"hops", e.Hops},
		{"name", abbreviateAuctionNameHash(e.Name)},
		{"theirs", e.SellerAuction},
		{"reason", e.Reason},
		{"trail", filterSetsByOutcomeAsJSON(e.Trail)},
		{"bids", jsonListUnlessEmpty(e.Bids, bidAsJSON)},
		{"fields", len(e.Fields)},
		{"test", e.Test},
	}
}

// saleOrTestMember returns a member with this name that describes the sale. If the sale has no buyer, it
// returns the member "test" instead, which says whether the lead is a test lead.
func saleOrTestMember(name string, s *Sale) jsonMember {
	if s.Buyer == 0 {
		return jsonMember{"test", s.Test}
	}
	return jsonMember{name, jsonMembers{
		{"buyer", s.Buyer},
		{"seat", encodedJSON(strconv.Itoa(int(s.FilterSet)))},
		{"price", encodedJSON(s.Price.String())},
		{"payout", encodedJSON(s.Payout.String())},
		{"currency", s.Currency},
		{"caps", len(s.Charges)},
		{"ping", abbreviateAuctionNameHash(s.Ping)},
		{"test", s.Test},
	}.encodeWithoutZeros()}
}

// abbreviateAuctionNameHash returns the first six bytes of an auction's name in hexadecimal, or an empty
// text for zero. They are enough to find the sale that names the auction.
func abbreviateAuctionNameHash(auctionName [16]byte) string {
	if auctionName == [16]byte{} {
		return ""
	}
	return hex.EncodeToString(auctionName[:6])
}

// filterSetsByOutcomeAsJSON returns the outcomes of a decision as a JSON object, each with the numbers of its
// filter sets. Without outcomes it returns an empty text.
func filterSetsByOutcomeAsJSON(outcomes []FilterSetsWithOutcome) encodedJSON {
	steps := make(jsonMembers, 0, len(outcomes))
	for i := range outcomes {
		var sets []int
		for set := outcomes[i].FilterSets.NextFrom(0); set >= 0; set = outcomes[i].FilterSets.NextFrom(set + 1) {
			sets = append(sets, set)
		}
		text := jsonList(sets, func(set *int) encodedJSON { return encodedJSON(strconv.Itoa(*set)) })
		steps = append(steps, jsonMember{outcomes[i].Outcome.String(), text})
	}
	if len(steps) == 0 {
		return ""
	}
	return steps.encodeWithoutZeros()
}

func bidAsJSON(b *Bid) encodedJSON {
	return jsonMembers{
		{"buyer", b.Buyer},
		{"seat", encodedJSON(strconv.Itoa(int(b.FilterSet)))},
		{"outcome", b.Outcome},
		{"amount", amountUnlessZero(b.Amount)},
		{"payout", amountUnlessZero(b.Payout)},
		{"currency", b.Currency},
		{"elapsed_us", max(b.Elapsed, 0) / 1000},
		{"status", b.Status},
		{"fault", textUnlessZero(b.Fault)},
		{"reason", b.Reason},
	}.encodeWithoutZeros()
}

// statusChangeAsJSON returns the JSON object that describes one change of a lead. It leaves out the
// reporter's reason, because the reason may name a person.
func statusChangeAsJSON(c *DecidedLeadStatusChange) encodedJSON {
	return jsonMembers{
		{"lead", c.Lead},
		{"result", c.Result},
		{"from", c.From},
		{"to", c.To},
		{"waited", c.WasPending},
		{"hook", textUnlessZero(c.Webhook)},
		{"credit", amountUnlessZero(c.Return.Credit)},
		{"reverse", amountUnlessZero(c.Return.Reverse)},
		{"caps", len(c.Return.Charges)},
		{"objections", jsonListUnlessEmpty(c.Rejections, func(r *market.StatusReportRejection) encodedJSON { return encodedJSON(strconv.Quote(r.String())) })},
	}.encodeWithoutZeros()
}

func nameAssignmentAsJSON(n *NameNumberAssignment) encodedJSON {
	return encodedJSON(fmt.Sprintf(`{"kind":%d,"ref":%d,"id":%s}`, n.Kind, n.Ref, escape.AppendJSONString(nil, []byte(n.ID))))
}
