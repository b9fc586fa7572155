package event

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// DescribeAsJSON returns the event as a JSON object for a person who reads a log. It leaves out
// secrets and personal data. Of sealed (encrypted) parts it shows only the length, of auction
// names, which are hashes, the first bytes. The member names are part of the output format and
// never change.
func DescribeAsJSON(e Event) string {
	d := jsonMembers{}
	switch e := e.(type) {
	case *ExchangeFounded:
		d.addHexUnlessEmpty("epoch", e.Epoch[:])
	case *ConfigNumbersAssigned:
		d.addNumberAssignments(e)
	case *ConfigActivated:
		d.addUintUnlessZero("version", uint64(e.Version))
		d.addTextUnlessEmpty("document", e.Document)
		d.addTextUnlessEmpty("overlay", e.Overlay)
		d.addTextUnlessEmpty("from", e.From.String())
	case *CredentialAddedOrRevoked:
		d.addCredentialSet(e)
	case *SecretStoredOrDeleted:
		d.addTextUnlessEmpty("name", e.Name)
		d.addUintUnlessZero("sealed_bytes", uint64(len(e.Sealed)))
	case *LeadDecided:
		d.addLeadDecided(e)
	case *PingAuctionCompleted:
		d.addPingAuction(e)
	case *PostAttemptFailed:
		d.addTextUnlessEmpty("lead", e.Lead.String())
		d.addUintUnlessZero("attempt", uint64(e.Attempt))
		d.addUintUnlessZero("status", uint64(e.Status))
		d.addFaultUnlessNone(e.Fault)
		d.addVerdictUnlessZero(e.Verdict)
		d.addTextUnlessEmpty("code", e.Code)
		d.addTrueIf("free", e.KeepsAttempt)
	case *PostSettled:
		d.addPostSettled(e)
	case *BuyerFundsAdjusted:
		d.addUintUnlessZero("buyer", uint64(e.Buyer))
		d.addTextUnlessEmpty("amount", e.Amount.String())
		d.addTrueIf("opening", e.Opening)
	case *PausedOrResumed:
		d.addUintUnlessZero("door", uint64(e.Target))
		d.addUintUnlessZero("ref", uint64(e.Ref))
		d.addTrueIf("paused", e.Paused)
	case *SuppressionListReplaced:
		d.addUintUnlessZero("list", uint64(e.List))
		d.addTextUnlessEmpty("file", e.File)
		d.addUintUnlessZero("entries", e.Entries)
		d.addTrueIf("uploaded", e.Uploaded)
	case *LeadStatusesChanged:
		d.addStatusChanged(e)
	case *WebhookAttempted:
		d.addWebhookAttempted(e)
	case *SupplierWebhooksTurnedOnOrOff:
		d.addUintUnlessZero("supplier", uint64(e.Supplier))
		d.addTrueIf("off", e.Off)
	case *LeadsErased:
		d.addErasedLeads(e)
	case *UserAccountChanged, *APITokenAddedOrRevoked:
		d.addUserOrAPITokenEvent(e)
	}
	if by := RequestingOperator(e); by != "" {
		d.addTextUnlessEmpty("by", by)
	}
	return "{" + strings.Join(d, ",") + "}"
}

// addUserOrAPITokenEvent adds the members that describe a UserAccountChanged or an
// APITokenAddedOrRevoked event.
func (d *jsonMembers) addUserOrAPITokenEvent(e Event) {
	switch e := e.(type) {
	case *UserAccountChanged:
		d.addTextUnlessEmpty("user", e.Name)
		d.addTextUnlessEmpty("role", e.Role.String())
		d.addTrueIf("removed", e.Removed)
	case *APITokenAddedOrRevoked:
		d.addTextUnlessEmpty("user", e.User)
		d.addTextUnlessEmpty("name", e.Name)
		d.addTextUnlessEmpty("role", e.Role.String())
		d.addTextUnlessEmpty("hint", e.Hint)
		d.addTrueIf("revoked", e.Revoked)
	}
}

// jsonMembers collects the members of a JSON object, each as the text "name":value.
type jsonMembers []string

// addMember adds a member whose value is the JSON text jsonValue.
func (d *jsonMembers) addMember(name, jsonValue string) {
	*d = append(*d, strconv.Quote(name)+":"+jsonValue)
}

// addUintUnlessZero adds a number. Zero is left out.
func (d *jsonMembers) addUintUnlessZero(name string, v uint64) {
	if v != 0 {
		d.addMember(name, strconv.FormatUint(v, 10))
	}
}

// addTextUnlessEmpty adds a text. An empty text is left out.
func (d *jsonMembers) addTextUnlessEmpty(name, v string) {
	if v != "" {
		d.addMember(name, string(escape.AppendJSONString(nil, []byte(v))))
	}
}

func (d *jsonMembers) addHexUnlessEmpty(name string, v []byte) {
	d.addTextUnlessEmpty(name, hex.EncodeToString(v))
}

// addTrueIf adds the member with value true, or leaves it out if the condition is false.
func (d *jsonMembers) addTrueIf(name string, condition bool) {
	if condition {
		d.addMember(name, "true")
	}
}

func (d *jsonMembers) addFaultUnlessNone(f market.RequestFault) {
	if f != market.FaultNone {
		d.addTextUnlessEmpty("fault", f.String())
	}
}

func (d *jsonMembers) addVerdictUnlessZero(v market.PostVerdict) {
	if v != 0 {
		d.addTextUnlessEmpty("verdict", v.String())
	}
}

func (d *jsonMembers) addNumberAssignments(e *ConfigNumbersAssigned) {
	given := make([]string, 0, len(e.Names))
	for i := range e.Names {
		given = append(given, fmt.Sprintf(`{"kind":%d,"ref":%d,"id":%s}`,
			e.Names[i].Kind, e.Names[i].Ref, escape.AppendJSONString(nil, []byte(e.Names[i].ID))))
	}
	d.addMember("names", "["+strings.Join(given, ",")+"]")
	d.addUintUnlessZero("caps", uint64(len(e.Caps)))
}

func (d *jsonMembers) addLeadDecided(e *LeadDecided) {
	d.addTextUnlessEmpty("lead", e.Lead.String())
	d.addTextUnlessEmpty("request", e.Request.String())
	d.addUintUnlessZero("campaign", uint64(e.Campaign))
	d.addUintUnlessZero("supplier", uint64(e.Supplier))
	d.addUintUnlessZero("catalog", uint64(e.Catalog))
	d.addTextUnlessEmpty("reason", e.Reason.String())
	if !e.DuplicateOf.IsZero() {
		d.addTextUnlessEmpty("duplicate_of", e.DuplicateOf.String())
	}
	d.addFilterSetsByOutcome(e.Trail)
	d.addSale("sale", &e.Sale)
	d.addTextUnlessEmpty("post", escape.RewritePlaceholdersForDisplay(e.Post.URL))
	if !e.Auction.ID.IsZero() {
		d.addTextUnlessEmpty("auction", e.Auction.ID.String())
		d.addBids(e.Auction.Bids)
	}
	d.addSealedSizeAndKeySlot(e.Slot, e.Sealed)
	d.addWebhookTypeUnlessNone(e.Webhook)
}

func (d *jsonMembers) addPostSettled(e *PostSettled) {
	d.addTextUnlessEmpty("lead", e.Lead.String())
	d.addTextUnlessEmpty("settlement", e.Settlement.String())
	d.addSale("sale", &e.Sale)
	d.addUintUnlessZero("status", uint64(e.Status))
	d.addFaultUnlessNone(e.Fault)
	d.addUintUnlessZero("attempts", uint64(e.Attempts))
	d.addTextUnlessEmpty("buyer_lead", e.BuyerLead)
	d.addTextUnlessEmpty("code", e.Code)
	d.addTextUnlessEmpty("reason", e.Reason.String())
	d.addFilterSetsByOutcome(e.Trail)
	d.addSale("next", &e.Next)
	d.addSealedSizeAndKeySlot(e.Slot, e.Sealed)
	d.addWebhookTypeUnlessNone(e.Webhook)
}

// addSealedSizeAndKeySlot adds the length of a lead's sealed personal data and the slot of its key.
func (d *jsonMembers) addSealedSizeAndKeySlot(keySlot uint64, sealed []byte) {
	d.addUintUnlessZero("sealed_bytes", uint64(len(sealed)))
	d.addUintUnlessZero("slot", keySlot)
}

func (d *jsonMembers) addErasedLeads(e *LeadsErased) {
	leads := make([]string, 0, len(e.Leads))
	for i := range e.Leads {
		leads = append(leads, strconv.Quote(e.Leads[i].String()))
	}
	slots := make([]string, 0, len(e.Slots))
	for _, slot := range e.Slots {
		slots = append(slots, strconv.FormatUint(slot, 10))
	}
	d.addMember("leads", "["+strings.Join(leads, ",")+"]")
	d.addMember("slots", "["+strings.Join(slots, ",")+"]")
}

// addWebhookTypeUnlessNone adds the type of the webhook that the event triggers, if it triggers one.
func (d *jsonMembers) addWebhookTypeUnlessNone(webhookType market.WebhookType) {
	if webhookType != market.WebhookNone {
		d.addTextUnlessEmpty("hook", webhookType.String())
	}
}

// addFilterSetsByOutcome adds the outcomes of a decision, each with the numbers of its filter sets.
func (d *jsonMembers) addFilterSetsByOutcome(trail []FilterSetsWithOutcome) {
	steps := make([]string, 0, len(trail))
	for i := range trail {
		var sets []string
		for set := trail[i].FilterSets.NextFrom(0); set >= 0; set = trail[i].FilterSets.NextFrom(set + 1) {
			sets = append(sets, strconv.Itoa(set))
		}
		steps = append(steps, fmt.Sprintf("%q:[%s]", trail[i].Outcome, strings.Join(sets, ",")))
	}
	if len(steps) > 0 {
		d.addMember("trail", "{"+strings.Join(steps, ",")+"}")
	}
}

// addSale adds a sale under the name. Without a buyer it adds only whether the lead is a test
// lead.
func (d *jsonMembers) addSale(memberName string, s *Sale) {
	if s.Buyer == 0 {
		d.addTrueIf("test", s.Test)
		return
	}
	inner := jsonMembers{}
	inner.addUintUnlessZero("buyer", uint64(s.Buyer))
	inner.addMember("seat", strconv.Itoa(int(s.FilterSet)))
	inner.addMember("price", s.Price.String())
	inner.addMember("payout", s.Payout.String())
	inner.addTextUnlessEmpty("currency", s.Currency.String())
	inner.addUintUnlessZero("caps", uint64(len(s.Charges)))
	inner.addAuctionNamePrefix("ping", s.Ping)
	inner.addTrueIf("test", s.Test)
	d.addMember(memberName, "{"+strings.Join(inner, ",")+"}")
}

func (d *jsonMembers) addCredentialSet(e *CredentialAddedOrRevoked) {
	d.addTextUnlessEmpty("credential", e.Credential.String())
	d.addUintUnlessZero("owner_kind", uint64(e.Owner))
	d.addUintUnlessZero("owner", uint64(e.OwnerRef))
	d.addTextUnlessEmpty("client", e.Client)
	d.addTextUnlessEmpty("scopes", e.Scopes.String())
	d.addTextUnlessEmpty("hint", e.Hint)
	d.addTrueIf("revoked", e.Revoked)
}

// addPingAuction adds the members of an PingAuctionCompleted event. It leaves out the lead's
// fields, and every token, because a token allows its holder to sell or buy at the bid.
func (d *jsonMembers) addPingAuction(e *PingAuctionCompleted) {
	d.addTextUnlessEmpty("auction", e.Auction.String())
	d.addTextUnlessEmpty("request", e.Request.String())
	d.addUintUnlessZero("campaign", uint64(e.Campaign))
	d.addUintUnlessZero("supplier", uint64(e.Supplier))
	d.addUintUnlessZero("catalog", uint64(e.Catalog))
	d.addUintUnlessZero("hops", uint64(e.Hops))
	d.addAuctionNamePrefix("name", e.Name)
	d.addTextUnlessEmpty("theirs", e.SellerAuction)
	d.addTextUnlessEmpty("reason", e.Reason.String())
	d.addFilterSetsByOutcome(e.Trail)
	d.addBids(e.Bids)
	d.addUintUnlessZero("fields", uint64(len(e.Fields)))
	d.addTrueIf("test", e.Test)
}

// auctionNameBytes is the number of bytes shown of an auction's name. They are enough to find the
// sale that names the auction.
const auctionNameBytes = 6

func (d *jsonMembers) addAuctionNamePrefix(memberName string, auctionName [16]byte) {
	if auctionName != [16]byte{} {
		d.addHexUnlessEmpty(memberName, auctionName[:auctionNameBytes])
	}
}

func (d *jsonMembers) addBids(bids []Bid) {
	if len(bids) == 0 {
		return
	}
	all := make([]string, 0, len(bids))
	for i := range bids {
		all = append(all, bids[i].describeAsJSON())
	}
	d.addMember("bids", "["+strings.Join(all, ",")+"]")
}

// describeAsJSON returns the bid as a JSON object without the buyer's token.
func (b *Bid) describeAsJSON() string {
	d := jsonMembers{}
	d.addUintUnlessZero("buyer", uint64(b.Buyer))
	d.addUintUnlessZero("seat", uint64(b.FilterSet))
	d.addTextUnlessEmpty("outcome", b.Outcome.String())
	if b.Amount != 0 {
		d.addMember("amount", b.Amount.String())
	}
	if b.Payout != 0 {
		d.addMember("payout", b.Payout.String())
	}
	if b.Currency != (market.Currency{}) {
		d.addTextUnlessEmpty("currency", b.Currency.String())
	}
	if b.Elapsed > 0 {
		d.addUintUnlessZero("elapsed_us", uint64(b.Elapsed)/1000)
	}
	d.addUintUnlessZero("status", uint64(b.Status))
	if b.Fault != market.FaultNone {
		d.addTextUnlessEmpty("fault", b.Fault.String())
	}
	d.addTextUnlessEmpty("reason", b.Reason)
	return "{" + strings.Join(d, ",") + "}"
}

// addStatusChanged adds the members of a LeadStatusesChanged event. It leaves out the reporter's
// reasons, because they may name a person.
func (d *jsonMembers) addStatusChanged(e *LeadStatusesChanged) {
	d.addTextUnlessEmpty("request", e.Request.String())
	d.addUintUnlessZero("buyer", uint64(e.Buyer))
	all := make([]string, 0, len(e.Changes))
	for i := range e.Changes {
		c := &e.Changes[i]
		inner := jsonMembers{}
		inner.addTextUnlessEmpty("lead", c.Lead.String())
		inner.addTextUnlessEmpty("result", c.Result.String())
		inner.addTextUnlessEmpty("from", c.From.String())
		inner.addTextUnlessEmpty("to", c.To.String())
		inner.addTrueIf("waited", c.WasPending)
		inner.addWebhookTypeUnlessNone(c.Webhook)
		if c.Return.Credit != 0 {
			inner.addMember("credit", c.Return.Credit.String())
		}
		if c.Return.Reverse != 0 {
			inner.addMember("reverse", c.Return.Reverse.String())
		}
		inner.addUintUnlessZero("caps", uint64(len(c.Return.Charges)))
		inner.addRejections(c.Rejections)
		all = append(all, "{"+strings.Join(inner, ",")+"}")
	}
	d.addMember("changes", "["+strings.Join(all, ",")+"]")
}

// addRejections adds the messages that the reporter received for its rejected change.
func (d *jsonMembers) addRejections(rejections []market.BuyerReportRejection) {
	if len(rejections) == 0 {
		return
	}
	all := make([]string, len(rejections))
	for i, objection := range rejections {
		all[i] = strconv.Quote(objection.String())
	}
	d.addMember("objections", "["+strings.Join(all, ",")+"]")
}

func (d *jsonMembers) addWebhookAttempted(e *WebhookAttempted) {
	d.addTextUnlessEmpty("lead", e.Lead.String())
	d.addTextUnlessEmpty("type", e.Type.String())
	d.addUintUnlessZero("supplier", uint64(e.Supplier))
	d.addUintUnlessZero("attempt", uint64(e.Attempt))
	d.addTextUnlessEmpty("outcome", e.Outcome.String())
	d.addUintUnlessZero("status", uint64(e.Status))
	if e.Fault != market.FaultNone {
		d.addTextUnlessEmpty("fault", e.Fault.String())
	}
}
