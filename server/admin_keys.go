package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// hintLength is how much of a key an operator sees again.
const hintLength = 8

// KeyHint is the part of a key by which an operator knows it; short keys show
// less of themselves.
func KeyHint(key string) string { return key[:min(hintLength, len(key)/4)] }

// rotate makes a new API key for a supplier. It is shown this once; two keys
// are good side by side, a third pushes the oldest out.
func (a *Admin) rotate(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	id, _ := ctx.UserValue("id").(string)
	key := newKey(e.State().CredentialsOf(event.CredentialAPIKey, event.NameSupplier, e.State().RefOf(event.NameSupplier, id)))
	if err := e.AddKey(market.SupplierID(id), sha256.Sum256([]byte(key)), KeyHint(key)); err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusCreated)
	ctx.SetContentType(typeJSON)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.SetBodyString(`{"api_key":"` + key + `","hint":"` + KeyHint(key) + `"}` + "\n")
}

// newKey draws a key that begins like none of the live ones: by its beginning
// an operator names it.
func newKey(live []state.Credential) string {
	for {
		var random [24]byte
		_, _ = rand.Read(random[:])
		key := "key_" + hex.EncodeToString(random[:])
		if !slices.ContainsFunc(live, func(c state.Credential) bool { return c.Hint == KeyHint(key) }) {
			return key
		}
	}
}

// keys lists a supplier's live keys: how each begins, and since when it is good.
func (a *Admin) keys(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	id, _ := ctx.UserValue("id").(string)
	ref := e.State().RefOf(event.NameSupplier, id)
	if ref == 0 {
		a.fail(ctx, fault{404, "not_found", "No supplier of this id was ever configured."})
		return
	}
	body := []byte(`{"keys":[`)
	for i, key := range e.State().CredentialsOf(event.CredentialAPIKey, event.NameSupplier, ref) {
		if i > 0 {
			body = append(body, ',')
		}
		body = market.AppendJSONString(append(body, `{"hint":`...), []byte(key.Hint))
		body = time.Unix(0, key.At).UTC().AppendFormat(append(body, `,"since":"`...), time.RFC3339)
		body = append(body, `"}`...)
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

func (a *Admin) revoke(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	id, _ := ctx.UserValue("id").(string)
	hint, _ := ctx.UserValue("hint").(string)
	if err := e.RevokeKey(market.SupplierID(id), hint); err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// funds is a buyer's money: its balance, and what of it open posts hold.
func (a *Admin) funds(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	id, _ := ctx.UserValue("id").(string)
	ref := e.State().RefOf(event.NameBuyer, id)
	if ref == 0 {
		a.fail(ctx, fault{404, "not_found", "No buyer of this id was ever configured."})
		return
	}
	balance, held := e.State().Balance(ref)
	body := balance.AppendJSON([]byte(`{"balance":`))
	body = held.AppendJSON(append(body, `,"held":`...))
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "}\n"...))
}

// topUp adds to a buyer's money.
func (a *Admin) topUp(ctx *fasthttp.RequestCtx) {
	var body struct {
		Amount market.Money `json:"amount"`
		Note   string       `json:"note"`
	}
	e := a.engineOr503(ctx)
	if e == nil || !a.document(ctx, &body) {
		return
	}
	if body.Amount == 0 || len(body.Note) > 256 {
		a.fail(ctx, faultPayload, market.FieldError{
			Field: "amount", Code: market.CodeMissingRequired, Expected: "an amount other than zero, and a note of at most 256 bytes",
		})
		return
	}
	id, _ := ctx.UserValue("id").(string)
	if err := e.TopUp(market.BuyerID(id), body.Amount, body.Note); err != nil {
		a.failWith(ctx, err)
		return
	}
	a.funds(ctx)
}
