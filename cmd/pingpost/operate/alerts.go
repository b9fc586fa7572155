package operate

import (
	"io"
	"net/url"
	"strconv"
	"strings"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/server/admin/alerts"
)

// AlertsCommand prints the alerts of a running exchange.
type AlertsCommand struct {
	client.AdminFlags
	History bool `help:"Print the changes of alerts instead, newest first."`
	Limit   int  `help:"Number of changes of --history (${default})." default:"50" placeholder:"COUNT"`
	JSON    bool `name:"json" help:"Print the admin API's answer unchanged."`
}

// Help returns the text that --help shows after the usage line.
func (*AlertsCommand) Help() string {
	return `Prints the alerts that fire, those that are about to fire, and the channels whose
notifications fail. With --history, it prints when alerts fired and were resolved.

The exit code is 2 if an alert fires that is not silenced, otherwise 0. With --history,
it is 0.`
}

// alert is an alert that fires or is about to fire.
type alert struct {
	Rule     string  `json:"rule"`
	Subject  *string `json:"subject"`
	Since    string  `json:"since"`
	FiresAt  *string `json:"fires_at"`
	Silenced bool    `json:"silenced"`
	Title    string  `json:"title"`
}

// alertsOverview is the part of the answer to GET alerts that the command prints.
type alertsOverview struct {
	Evaluated *string `json:"evaluated_at"`
	Firing    []alert `json:"firing"`
	Pending   []alert `json:"pending"`
	Channels  []struct {
		ID     string               `json:"id"`
		Health alerts.ChannelHealth `json:"health"`
	} `json:"channels"`
}

// Run fetches the alerts from the exchange and prints them. The exit code is 2 if one fires that is not
// silenced, and 0 with --history.
func (c *AlertsCommand) Run(out io.Writer) error {
	if c.History {
		return c.printHistory(out)
	}
	var status alertsOverview
	document, err := c.CallJSON("GET", "/admin/v1/alerts", nil, &status)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = out.Write(document)
	} else {
		_, err = io.WriteString(out, formatAlertsAndFailingChannels(&status))
	}
	if err != nil {
		return err
	}
	for i := range status.Firing {
		if !status.Firing[i].Silenced {
			return terminal.ExitCodeError(2)
		}
	}
	return nil
}

// formatAlertsAndFailingChannels returns a line for each alert and for each channel that fails.
func formatAlertsAndFailingChannels(status *alertsOverview) string {
	table := &terminal.Table{}
	for i := range status.Firing {
		a := &status.Firing[i]
		state := "firing"
		if a.Silenced {
			state = "silenced"
		}
		addPrintableRow(table, state, a.Rule, textOr(a.Subject, "-"), "since "+a.Since, a.Title)
	}
	for i := range status.Pending {
		a := &status.Pending[i]
		addPrintableRow(table, "pending", a.Rule, textOr(a.Subject, "-"), "fires "+textOr(a.FiresAt, "-"), a.Title)
	}
	for i := range status.Channels {
		if ch := &status.Channels[i]; ch.Health.FailingSince != nil {
			addPrintableRow(table, "channel", ch.ID, "-", "fails since "+*ch.Health.FailingSince, textOr(ch.Health.LastError, ""))
		}
	}
	var text strings.Builder
	text.WriteString(table.String())
	switch {
	case status.Evaluated == nil:
		text.WriteString("The rules were not evaluated yet.\n")
	case len(status.Firing) == 0:
		text.WriteString("No alert fires. Evaluated at " + *status.Evaluated + ".\n")
	}
	return text.String()
}

func (c *AlertsCommand) printHistory(out io.Writer) error {
	var page struct {
		Entries []struct {
			alert

			At            string `json:"at"`
			Transition    string `json:"transition"`
			Notifications []struct {
				Channel string `json:"channel"`
				Outcome string `json:"outcome"`
			} `json:"notifications"`
		} `json:"entries"`
	}
	document, err := c.CallJSON("GET", "/admin/v1/alerts/history?"+url.Values{"limit": {strconv.Itoa(c.Limit)}}.Encode(), nil, &page)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = out.Write(document)
		return err
	}
	table := &terminal.Table{}
	for i := range page.Entries {
		e := &page.Entries[i]
		var sent []string
		for _, n := range e.Notifications {
			sent = append(sent, n.Channel+" "+n.Outcome)
		}
		addPrintableRow(table, e.At, e.Transition, e.Rule, textOr(e.Subject, "-"), e.Title, strings.Join(sent, ", "))
	}
	text := table.String()
	if len(page.Entries) == 0 {
		text = "no changes\n"
	}
	_, err = io.WriteString(out, text)
	return err
}
