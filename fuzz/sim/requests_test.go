package sim

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// act performs a line with the engine and returns the answer in the model's words. label names
// the lead that it creates, if any.
func (x *exchange) act(label string, l line) string {
	switch l.verb {
	case "lead":
		return x.ingest(label, l)
	case "ping", "ask":
		return x.ping(l)
	case "sale":
		return x.sale(label, l)
	case "report":
		return x.report(l)
	case "decide":
		return operated(x.engine.AsOperator("").DecideReturn(x.ids[l.at(0)], l.at(1) == "approve", ""))
	case "resolve":
		how := map[string]event.PostSettlement{"confirm": event.SettledConfirmed, "release": event.SettledReleased, "resend": event.SettledResent}
		return operated(x.engine.AsOperator("").ResolveUnconfirmedDelivery(x.ids[l.at(0)], how[l.at(1)]))
	case "erase":
		return x.erase(l)
	case "pause", "resume":
		kind := event.ObjectCampaign
		if l.at(0) == "buyer" {
			kind = event.ObjectBuyer
		}
		return operated(x.engine.AsOperator("").SetCampaignOrBuyerPaused(kind, l.at(1), l.verb == "pause"))
	case "topup":
		return operated(x.engine.AsOperator("").AdjustBuyerFunds(market.BuyerID(l.at(0)), market.Money(l.money("by")), ""))
	case "tellagain":
		_, err := x.engine.AsOperator("").ResendDeadLetters(market.SupplierID(l.at(0)))
		return operated(err)
	}
	panic("BUG: unknown step: " + l.String())
}

func operated(err error) string {
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return "not found"
	case errors.Is(err, engine.ErrConflict):
		return "conflict"
	case err != nil:
		return "error: " + err.Error()
	}
	return "done"
}

// refused returns an error in the model's words.
func refused(err error) string {
	var refusal *engine.Refusal
	if !errors.As(err, &refusal) {
		return "error: " + err.Error()
	}
	text := string(refusal.Code)
	if refusal.Reason != market.ReasonNone {
		text += " " + refusal.Reason.String()
	}
	for _, f := range refusal.Fields {
		text += " " + f.Field + ":" + f.Code
	}
	if refusal.Replayed {
		text += " again"
	}
	return text
}

func again(replayed bool) string {
	if replayed {
		return " again"
	}
	return ""
}

func text(name, value string) market.JSONMember {
	return market.JSONMember{Name: []byte(name), Kind: market.JSONString, Text: []byte(value)}
}

// signals returns a ping's data about a lead.
func signals(l line) []market.JSONMember {
	all := []market.JSONMember{text("ref", l.at(0))}
	if l.has("state") {
		all = append(all, text("state", l.said["state"]))
	}
	if l.has("vehicles") {
		all = append(all, market.JSONMember{Name: []byte("vehicles"), Kind: market.JSONNumber, Text: []byte(l.said["vehicles"])})
	}
	return all
}

// person returns a lead's data.
func person(l line) []market.JSONMember {
	return append(signals(l),
		text("first_name", "Pat"), text("last_name", "Doe"),
		text("phone", phoneOf(l.said["phone"])), text("email", emailOf(l.said["email"])))
}

func (x *exchange) supplier(l line) *market.Supplier {
	return x.engine.ActiveCatalogOrNil().Suppliers[market.SupplierID(l.at(1))]
}

func (x *exchange) ingest(label string, l line) string {
	members := append(person(l), text("flo_campaign_id", l.at(2)), text("flo_supplier_id", l.at(1)))
	if l.has("ping") {
		id := market.PingID(x.pings["ask "+l.at(1)+" "+l.said["ping"]].Auction)
		members = append(members, text("flo_ping_id", id.String()), text("flo_buyer_id", l.said["buyer"]))
	}
	a, err := x.engine.Ingest(&engine.IngestRequest{
		Supplier: x.supplier(l), Members: members, Body: []byte(bodyOf(l)), Key: []byte(l.said["key"]),
		Request: x.request(label), Received: time.Now().UnixNano(),
	})
	switch {
	case err != nil:
		return refused(err)
	case a.Accepted:
		return fmt.Sprintf("sold to %s for %s", a.Buyer, amount(int64(a.Payout))) + again(a.Replayed)
	}
	return "unmatched " + a.Reason.String() + again(a.Replayed)
}

func (x *exchange) ping(l line) string {
	members := signals(l)
	if l.verb == "ping" {
		members = append(members, text("auction_id", l.at(0)), text("vertical", l.at(2)),
			market.JSONMember{Name: []byte("tcpa_consent"), Kind: market.JSONBoolean, Text: []byte("true")})
	} else {
		members = append(members, text("flo_campaign_id", l.at(2)), text("flo_supplier_id", l.at(1)))
	}
	call := x.engine.PingForBestBid
	if l.verb == "ask" {
		call = x.engine.PingForAllBids
	}
	a, err := call(&engine.SupplierPingRequest{
		Supplier: x.supplier(l), Members: members, Body: []byte(bodyOf(l)), Key: []byte(l.said["key"]),
		Request: x.request(""), Received: time.Now().UnixNano(),
	})
	if err != nil {
		return refused(err)
	}
	x.drawing.Lock()
	x.pings[l.verb+" "+l.at(1)+" "+l.at(0)] = a
	x.drawing.Unlock()
	words := "none " + a.Reason.String()
	switch {
	case a.Bid:
		words = "bid " + amount(int64(a.Amount))
	case len(a.Offers) > 0:
		words = "offers"
		for _, o := range a.Offers {
			words += " " + o.Buyer + ":" + amount(int64(o.Amount))
		}
	}
	return words + again(a.Replayed)
}

func (x *exchange) sale(label string, l line) string {
	told := x.pings["ping "+l.at(1)+" "+l.said["ping"]]
	a, err := x.engine.SellAtBid(&engine.SupplierPostRequest{
		Supplier: x.supplier(l), Auction: text("auction_id", l.said["ping"]), Token: text("bid_token", string(told.Token.AppendAsText(nil))),
		LeadUUID: text("lead_uuid", l.at(0)), Lead: person(l), Body: []byte(bodyOf(l)), Key: []byte(l.said["key"]),
		Request: x.request(label), Received: time.Now().UnixNano(),
	})
	if err != nil {
		return refused(err)
	}
	return fmt.Sprintf("sold to %s for %s", a.Buyer, amount(int64(a.Payout))) + again(a.Replayed)
}

func (x *exchange) report(l line) string {
	report := engine.ReceivedStatusReport{Status: text("status", l.at(2))}
	if l.has("reason") {
		report.Reason = text("reason", l.said["reason"])
	}
	a, err := x.engine.ProcessSingleStatusReport(&engine.StatusReportRequest{
		Buyer: x.engine.ActiveCatalogOrNil().Buyers[market.BuyerID(l.at(0))], Lead: x.ids[l.at(1)],
		Reports: []engine.ReceivedStatusReport{report}, Body: []byte(bodyOf(l)), Key: []byte(l.said["key"]),
		Request: x.request(""), Received: time.Now().UnixNano(),
	})
	if err != nil {
		return refused(err)
	}
	words := a.Results[0].Status.String()
	if a.Results[0].Waits {
		words += " waiting"
	}
	return strings.TrimSpace(words) + again(a.Replayed)
}
