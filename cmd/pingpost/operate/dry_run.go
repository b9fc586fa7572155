package operate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/engine/exclusion"
)

// DryRunCommand prints how an exchange would decide about a lead.
type DryRunCommand struct {
	client.AdminFlags
	Campaign string `arg:"" help:"Id of the campaign."`
	File     string `arg:"" optional:"" help:"A file with the lead as JSON, as an ingest has it; - is standard input. Without a file, the exchange makes up a lead that passes the campaign's rules." type:"path"`
	Supplier string `help:"The supplier that sends the lead; by default one that may send to the campaign." placeholder:"ID"`
	JSON     bool   `name:"json" help:"Print the admin API's answer unchanged."`
}

// Help returns the text that --help shows after the usage line.
func (*DryRunCommand) Help() string {
	return `Shows the decision about a test lead, and for each buyer the rule that excludes it. The
exchange sends nothing, records nothing and pings no buyer. Caps, funds and duplicates
do not apply to test leads.

  pingpost dry-run cmp_auto
  pingpost dry-run cmp_auto lead.json --supplier sup_acme

In a ping_post campaign, the decision is pinged: the buyers decide. A buyer with an
endpoint needs a test endpoint. The exit code is 2 if the lead would be unsold or is
invalid, otherwise 0.`
}

// maxLeadFile is the greatest size of a lead's file. It is above the exchange's limit.
const maxLeadFile = 1 << 20

// madeUpLead is the answer to GET bench/example.
type madeUpLead struct {
	Supplier       *string         `json:"supplier"` // nil: no supplier may send to the campaign
	Lead           json.RawMessage `json:"lead"`
	Contradictions []string        `json:"contradictions"`
}

// dryRunDecision is the member dry_run of the answer to POST bench.
type dryRunDecision struct {
	Decision   string               `json:"decision"` // sold, pinged or unsold
	Buyer      *string              `json:"buyer_id"`
	Reason     *string              `json:"reason"`
	Rule       *exclusion.UnmetRule `json:"rule"`
	Candidates []struct {
		Buyer     string               `json:"buyer_id"`
		Set       string               `json:"filter_set"`
		Outcome   string               `json:"outcome"`
		WouldPing bool                 `json:"asked"`
		Rule      *exclusion.UnmetRule `json:"rule"`
	} `json:"candidates"`
}

// Run asks the exchange for the decision and prints it. The exit code is 2 if the lead would be unsold
// or is invalid.
func (c *DryRunCommand) Run(in *os.File, out io.Writer) error {
	var example madeUpLead
	if _, err := c.CallJSON("GET", "/admin/v1/bench/example?"+url.Values{"campaign": {c.Campaign}}.Encode(), nil, &example); err != nil {
		return err
	}
	lead := example.Lead
	if c.File != "" {
		var err error
		if lead, err = readLeadWithoutCampaignAndSupplier(c.File, in); err != nil {
			return err
		}
	}
	supplier := c.Supplier
	if supplier == "" && example.Supplier != nil {
		supplier = *example.Supplier
	}
	if supplier == "" {
		return fmt.Errorf("no configured supplier may send leads to the campaign %q; add a supplier to the exchange, or to the list suppliers of the campaign", c.Campaign)
	}
	body, err := json.Marshal(map[string]any{"campaign": c.Campaign, "supplier": supplier, "lead": lead, "dry_run": true})
	if err != nil {
		return err
	}
	var answer struct {
		Status int             `json:"status"`
		Answer json.RawMessage `json:"answer"`
		DryRun *dryRunDecision `json:"dry_run"`
	}
	document, err := c.CallJSON("POST", "/admin/v1/bench", body, &answer)
	if err != nil {
		return err
	}
	text := string(document)
	if !c.JSON {
		text = ""
		if c.File == "" {
			text = describeMadeUpLead(&example)
		}
		if answer.DryRun != nil {
			text += formatDecision(answer.DryRun)
		} else {
			text += fmt.Sprintf("invalid lead: HTTP %d\n%s\n", answer.Status, client.NewAPIError(http.StatusText(answer.Status), answer.Answer))
		}
	}
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if answer.DryRun == nil || answer.DryRun.Decision == "unsold" {
		return terminal.ExitCodeError(2)
	}
	return nil
}

// readLeadWithoutCampaignAndSupplier reads a JSON object from a file, or from in for the name "-". It
// removes the ids of campaign and supplier, which the command line gives.
func readLeadWithoutCampaignAndSupplier(path string, in *os.File) (json.RawMessage, error) {
	source := in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		source = file
	}
	text, err := io.ReadAll(io.LimitReader(source, maxLeadFile+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the lead from %s: %w", path, err)
	}
	if len(text) > maxLeadFile {
		return nil, fmt.Errorf("the lead in %s is larger than %d bytes", path, maxLeadFile)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return nil, errors.Join(fmt.Errorf("%s has no lead: expected one JSON object", path), err)
	}
	for _, name := range []string{"flo_campaign_id", "campaign_id", "flo_supplier_id", "supplier_id"} {
		delete(members, name)
	}
	return json.Marshal(members)
}

// describeMadeUpLead returns the lead that the exchange made up, and the rules that no lead can meet.
func describeMadeUpLead(example *madeUpLead) string {
	text := "lead      " + terminal.ReplaceUnprintable(string(example.Lead)) + "\n"
	for _, rule := range example.Contradictions {
		text += "no lead can meet the rule: " + terminal.ReplaceUnprintable(rule) + "\n"
	}
	return text
}

// formatDecision returns the decision and a line for each buyer.
func formatDecision(d *dryRunDecision) string {
	var text strings.Builder
	text.WriteString("decision  " + d.Decision)
	if d.Buyer != nil {
		text.WriteString(" to " + *d.Buyer)
	}
	if d.Reason != nil {
		text.WriteString(": " + *d.Reason)
	}
	if d.Rule != nil {
		text.WriteString(" (" + terminal.ReplaceUnprintable(d.Rule.Text) + ")")
	}
	text.WriteString("\n")
	table := &terminal.Table{Indent: "  "}
	for i := range d.Candidates {
		candidate := &d.Candidates[i]
		outcome, rule := candidate.Outcome, ""
		if candidate.WouldPing {
			outcome = "would be pinged"
		}
		if candidate.Rule != nil {
			rule = candidate.Rule.Text
		}
		name := candidate.Buyer
		if candidate.Set != "" {
			name += "/" + candidate.Set
		}
		addPrintableRow(table, name, outcome, rule)
	}
	text.WriteString(table.String())
	return text.String()
}
