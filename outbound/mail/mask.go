package mail

import "regexp"

// address matches an e-mail address in a text, and a beginning or an end of one that has its @.
var address = regexp.MustCompile(`[^\s<>()\[\],;:"']*@[^\s<>()\[\],;:"']*`)

// MaskAddresses replaces the e-mail addresses in a text, such as a server's reply, by "(address)". Shorten
// a text afterwards: a part of an address without its @ stays.
func MaskAddresses(text string) string { return address.ReplaceAllString(text, "(address)") }
