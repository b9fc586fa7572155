package seller

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/engine/market"
)

// PingCommand asks an exchange for a bid on a lead, as a seller with a token or as a supplier
// with an API key.
type PingCommand struct {
	sellerFlags
	APIKey string                 `name:"api-key" env:"PINGPOST_API_KEY" placeholder:"KEY" help:"A supplier's API key, instead of a token or a client: requests at /api/v1/ping the interested buyers and their prices; better in the environment variable PINGPOST_API_KEY."`
	Fields rawFieldArgsAmongFlags `arg:"" optional:"" name:"field..." help:"The fields of the ping: NAME=VALUE, NAME:=JSON, @FILE with a JSON object, - for one on standard input."`
}

// Help returns the text that --help shows after the usage line.
func (*PingCommand) Help() string {
	return `For example:

  pingpost ping --client-id acme --client-secret S \
    vertical=auto_insurance state=CA zip3=941 tcpa_consent=true

` + fieldsHelp + `

` + credentialHelp + ` An API key comes last: with
it, the command lists the interested buyers, and pingpost post takes no API key.

A missing auction_id is the idempotency key, so the same --key repeats the ping and
gets the same answer. Standard error has a summary of the answer, and standard
output the answer itself, for pingpost post:

  pingpost ping … vertical=auto_insurance state=CA tcpa_consent=true |
    pingpost post … - lead.first_name=Ann lead.last_name=Lee \
      lead.email=ann@example.com lead.phone=4155550132

The exit code is 0 for an answer with or without a bid, and 1 for an error.`
}

// Run sends the ping and prints the bid.
func (c *PingCommand) Run() error {
	return c.run(context.Background(), os.Stdin, os.Stdout, os.Stderr)
}

func (c *PingCommand) run(ctx context.Context, in io.Reader, out, messages io.Writer) error {
	fields, err := parseRequestFields(c.Fields, in)
	if err != nil {
		return err
	}
	request := sellerRequest{flags: &c.sellerFlags, path: "/v1/ping", scope: "ping", fields: fields, keyField: "auction_id"}
	addRows := addBidRows
	switch request.credential, err = c.chooseCredentialOrNone(c.APIKey); {
	case err != nil:
		return err
	case request.credential.kind == byNothing:
		return errors.New("no credential for the ping; give --token, --client-id with --client-secret, or --api-key")
	case request.credential.kind == byKey:
		request.path, request.scope, request.keyField, request.apiKey = "/api/v1/ping", "", "", c.APIKey
		addRows = addOfferRows
	}
	response, err := request.sendOnce(ctx)
	if err != nil {
		return err
	}
	return response.printAnswerOrExitError(out, messages, addRows)
}

// priceJSON is an amount with its currency, as the API's JSON has it.
type priceJSON struct {
	Amount   market.Money `json:"amount"`
	Currency string       `json:"currency"`
}

func (p *priceJSON) String() string { return terminal.FormatMoney(p.Amount) + " " + p.Currency }

// pingAnswer is the answer to a seller's ping.
type pingAnswer struct {
	Auction string `json:"auction_id"`
	Bid     *struct {
		priceJSON
		Token string `json:"bid_token"`
		Until string `json:"valid_until"`
	} `json:"bid"`
	Reason string `json:"reject_reason"`
	Detail string `json:"reject_detail"`
}

// addBidRows adds the bid from the answer to a ping, or the reason for no bid, to the table
// that the command prints.
func addBidRows(answerBody []byte, t *terminal.Table) error {
	var a pingAnswer
	if err := json.Unmarshal(answerBody, &a); err != nil {
		return err
	}
	t.Row("auction_id", a.Auction)
	if a.Bid == nil {
		if a.Reason == "" {
			return errors.New("the body has neither bid nor reject_reason")
		}
		t.Row("no bid", a.Reason+": "+a.Detail)
		return nil
	}
	t.Row("bid", a.Bid.String())
	t.Row("bid_token", a.Bid.Token)
	t.Row("open until", a.Bid.Until)
	return nil
}

// addOfferRows adds the buyers' offers, from the answer to a ping with an API key, to the
// table that the command prints. The best offer is first.
func addOfferRows(answerBody []byte, t *terminal.Table) error {
	var a struct {
		Data struct {
			Ping     string `json:"ping_id"`
			Campaign string `json:"campaign_id"`
			Reason   string `json:"reason"`
			Buyers   []struct {
				Buyer string `json:"buyer_id"`
				priceJSON
				Until string `json:"valid_until"`
			} `json:"buyers"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answerBody, &a); err != nil {
		return err
	}
	t.Row("flo_ping_id", a.Data.Ping)
	t.Row("flo_campaign_id", a.Data.Campaign)
	if len(a.Data.Buyers) == 0 {
		t.Row("no buyer", a.Data.Reason)
	}
	for i := range a.Data.Buyers {
		b := &a.Data.Buyers[i]
		t.Row("flo_buyer_id", b.Buyer+", "+b.String()+", open until "+b.Until)
	}
	return nil
}
