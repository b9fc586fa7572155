package server

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/seed"
	"pingpost/server/strictjson"
)

// benchExample makes up a lead for a campaign, in the form in which the bench takes it:
// GET bench/example. Its state is one that somebody buys in.
func (a *Admin) benchExample(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	catalog := e.Catalog()
	if catalog == nil {
		a.fail(ctx, faultUnavailable)
		return
	}
	c := catalog.Campaigns[market.CampaignID(ctx.QueryArgs().Peek("campaign"))]
	if c == nil {
		a.fail(ctx, faultPayload, market.FieldError{Field: "campaign", Code: errcode.FieldUnknown, Expected: "the id of a campaign that is configured"})
		return
	}
	body := market.AppendJSONString([]byte(`{"campaign":`), []byte(c.ID))
	body = appendText(append(body, `,"supplier":`...), senderOf(catalog, c))
	body = append(body, `,"lead":`...)
	body = append(appendExample(body, c), "}\n"...)
	ctx.SetContentType(typeJSON)
	ctx.SetBody(body)
}

// senderOf is a supplier that may send leads into a campaign, or empty.
func senderOf(catalog *market.Catalog, c *market.Campaign) string {
	for _, id := range slices.Sorted(maps.Keys(catalog.Suppliers)) {
		if c.Takes(id) {
			return string(id)
		}
	}
	return ""
}

// appendExample appends a made-up lead's members: those that the seed has, less what the
// campaign refuses, and what it requires besides.
func appendExample(body []byte, c *market.Campaign) []byte {
	made := seed.Make(seed.Request{Count: 1, Vertical: c.Vertical, State: soldIn(c), Seed: rand.Int64()})
	var object strictjson.Object
	var lead market.Lead
	lead.Reset(c.Mapping.Slots())
	if err := object.Parse(made[0].AppendIngest(nil, string(c.ID), "")); err != nil {
		panic("BUG: a lead was made that is no JSON object: " + err.Error())
	}
	wrong := map[string]bool{}
	for _, fault := range c.Mapping.Fill(&lead, object.Members(), nil) {
		wrong[fault.Field] = true
	}
	first := true
	add := func(name string, value []byte) {
		if !first {
			body = append(body, ',')
		}
		first = false
		body = append(append(market.AppendJSONString(body, []byte(name)), ':'), value...)
	}
	body = append(body, '{')
	for _, m := range object.Members() {
		name := string(m.Name)
		if !strings.HasPrefix(name, "flo_") && !wrong[name] {
			add(name, jsonOf(&m))
		}
	}
	for slot := range c.Mapping.Slots() {
		name := c.Mapping.NameOf(market.Slot(slot))
		if !wrong[name] {
			continue
		}
		if value := c.Mapping.Example(market.Slot(slot)); value != nil {
			add(name, value)
		}
	}
	return append(body, '}')
}

// jsonOf is a member's value as it came.
func jsonOf(m *market.Member) []byte {
	if m.Kind == market.JSONString {
		return market.AppendJSONString(nil, m.Text)
	}
	return m.Text
}

// soldIn is a state that a buyer of the campaign takes, or else the largest one.
func soldIn(c *market.Campaign) market.State {
	places := seed.Places()
	for i := range places {
		state := market.StateOf([]byte(places[i].State))
		for j := range c.Lineup {
			if c.Lineup[j].States.Has(state) {
				return state
			}
		}
	}
	return market.StateOf([]byte("CA"))
}
