package mail

import "testing"

func TestMaskAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"accepted for 1 of 2: Bob.Smith@Example.com is refused: 550 no":    "accepted for 1 of 2: (address) is refused: 550 no",
		"550 <a+b@x.example>: unknown; c@y":                                "550 <(address)>: unknown; (address)",
		"cut at carol@":                                                    "cut at (address)",
		"cannot connect or sign in to the SMTP server mail.example.com:25": "cannot connect or sign in to the SMTP server mail.example.com:25",
	} {
		if got := MaskAddresses(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
