package exchange

import (
	"testing"

	"pingpost/config"
	"pingpost/config/schema"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// The log line about the dashboard names all configured ways to sign in.
func TestSignInTextNamesAllWays(t *testing.T) {
	const (
		atProvider   = "at the identity provider of admin.oidc"
		withAccount  = "with an account"
		withPassword = "with any user name and the password of admin.password"
	)
	for _, row := range []struct {
		provider, account, password bool
		want                        string
	}{
		{true, false, false, atProvider},
		{true, true, false, atProvider + ", or " + withAccount},
		{true, false, true, atProvider + ", or " + withPassword},
		{true, true, true, atProvider + ", or " + withAccount + ", or " + withPassword},
		{false, true, true, withAccount + ", or " + withPassword},
		{false, false, false, "not possible: there is no account yet, and admin.password is not set; set it, and restart the exchange"},
	} {
		x := &Exchange{state: state.New()}
		if row.provider {
			x.settings.OIDC = config.OIDCSettings{Issuer: "https://id.example"}
		}
		if row.account {
			x.state.Apply(1, 1, &event.UserAccountChanged{Name: "ann", Role: market.RoleAdmin, Password: "hash", At: 1})
		}
		if row.password {
			x.settings.AdminPassword = schema.NewSecret("secret")
		}
		if got := x.describeSignIn(); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
}
