package cluster

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/keyroute/keyroute/integration/cluster/internal/engine"
)

// Types of errors that a signature can cause (source: Scylla's
// alternator/server.cc).
const (
	missingToken       = "MissingAuthenticationTokenException"
	invalidSignature   = "InvalidSignatureException"
	unrecognizedClient = "UnrecognizedClientException"
)

// signatureLife is how far X-Amz-Date may be from the server's time (source:
// Scylla's alternator/auth.cc).
const signatureLife = 15 * time.Minute

const (
	algorithm  = "AWS4-HMAC-SHA256"
	dateLayout = "20060102T150405Z"
)

// verifier verifies Signature Version 4 as Alternator does: over the headers
// that the client says it signed, whatever region and service it names.
type verifier struct {
	credentials aws.Credentials
	signer      *v4.Signer
}

func newVerifier(c aws.Credentials) *verifier {
	return &verifier{
		credentials: aws.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey},
		signer:      v4.NewSigner(),
	}
}

// authorization is the content of an Authorization header.
type authorization struct {
	accessKey, date, region, service string
	signedHeaders                    []string
	signature                        string
}

// verify signs the request again and compares. It returns nil for a valid
// signature, and otherwise what Alternator answers.
func (v *verifier) verify(r *http.Request, body []byte) *engine.Error {
	if r.Header.Get("Authorization") == "" {
		return &engine.Error{Type: missingToken, Message: "Authorization header is mandatory for signature verification"}
	}
	a, refusal := parseAuthorization(r.Header.Get("Authorization"))
	if refusal != nil {
		return refusal
	}
	if !slices.Contains(a.signedHeaders, "host") {
		return &engine.Error{Type: invalidSignature, Message: "Host header must be signed"}
	}
	date, refusal := verifyDate(r.Header.Get("X-Amz-Date"), a.date)
	if refusal != nil {
		return refusal
	}
	if a.accessKey != v.credentials.AccessKeyID {
		return &engine.Error{Type: unrecognizedClient, Message: "User not found: " + a.accessKey}
	}
	want, err := v.sign(r, body, a, date)
	if err != nil {
		return &engine.Error{Type: engine.InternalServerError, Message: err.Error()}
	}
	if subtle.ConstantTimeCompare([]byte(want.signature), []byte(a.signature)) == 0 {
		return &engine.Error{Type: unrecognizedClient, Message: "wrong signature"}
	}
	return nil
}

// sign signs a copy of the request that has nothing but the signed headers.
func (v *verifier) sign(r *http.Request, body []byte, a authorization, date time.Time) (authorization, error) {
	signed, err := http.NewRequest(r.Method, "/", nil)
	if err != nil {
		return authorization{}, err
	}
	signed.Host = r.Host
	for _, name := range a.signedHeaders {
		if values := r.Header.Values(name); len(values) > 0 {
			signed.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	if slices.Contains(a.signedHeaders, "content-length") {
		signed.ContentLength = r.ContentLength
	}
	hash := sha256.Sum256(body)
	err = v.signer.SignHTTP(context.Background(), v.credentials, signed,
		hex.EncodeToString(hash[:]), a.service, a.region, date)
	if err != nil {
		return authorization{}, err
	}
	again, refusal := parseAuthorization(signed.Header.Get("Authorization"))
	if refusal != nil {
		return authorization{}, refusal
	}
	return again, nil
}

// parseAuthorization parses "AWS4-HMAC-SHA256 Credential=KEY/DATE/REGION/
// SERVICE/aws4_request, SignedHeaders=a;b, Signature=HEX".
func parseAuthorization(header string) (authorization, *engine.Error) {
	var a authorization
	name, fields, _ := strings.Cut(header, " ")
	if name != algorithm {
		return a, &engine.Error{
			Type:    invalidSignature,
			Message: "Authorization header must use AWS4-HMAC-SHA256 algorithm: " + header,
		}
	}
	var credential string
	for field := range strings.FieldsFuncSeq(fields, func(c rune) bool { return c == ',' || c == ' ' }) {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "Credential":
			credential = value
		case "SignedHeaders":
			a.signedHeaders = strings.Split(value, ";")
		case "Signature":
			a.signature = value
		}
	}
	scope := strings.Split(credential, "/")
	if len(scope) != 5 {
		return a, &engine.Error{
			Type:    engine.Validation,
			Message: "Incorrect credential information format: " + credential,
		}
	}
	a.accessKey, a.date, a.region, a.service = scope[0], scope[1], scope[2], scope[3]
	return a, nil
}

// verifyDate returns the time at which a request was signed. day is the day
// that the credential is for.
func verifyDate(header, day string) (time.Time, *engine.Error) {
	date, err := time.Parse(dateLayout, header)
	if err != nil {
		return date, &engine.Error{Type: invalidSignature, Message: "X-Amz-Date header is mandatory for signature verification"}
	}
	if !strings.HasPrefix(header, day) {
		return date, &engine.Error{Type: invalidSignature, Message: "X-Amz-Date " + header + " is not of the credential's day " + day}
	}
	switch age := time.Since(date); {
	case age > signatureLife:
		return date, &engine.Error{Type: invalidSignature, Message: "Signature expired: " + header}
	case age < -signatureLife:
		return date, &engine.Error{Type: invalidSignature, Message: "Signature not yet current: " + header}
	}
	return date, nil
}
