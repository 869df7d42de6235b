package integration

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyroute/keyroute/middleware"
)

// A table whose key cannot be learnt is left alone for a time that depends on
// the error that the SDK makes of the answer: long for what will not pass by
// itself, and logged once; short, but longer each time, for the rest.
func TestHowLongATableIsLeftAlone(t *testing.T) {
	t.Parallel()
	const lasting, passing = 5 * time.Minute, 2 * time.Second
	for name, test := range map[string]struct {
		status int
		code   string
		want   time.Duration
	}{
		"not found":      {400, "ResourceNotFoundException", lasting},
		"access denied":  {400, "AccessDeniedException", lasting},
		"invalid":        {400, "ValidationException", lasting},
		"unknown":        {400, "UnknownOperationException", lasting},
		"server error":   {500, "InternalServerError", passing},
		"overloaded":     {400, "RequestLimitExceeded", passing},
		"throttled":      {400, "ThrottlingException", passing},
		"bad signature":  {400, "UnrecognizedClientException", passing},
		"proxy's answer": {502, "", passing},
		"no answer":      {0, "", passing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				checkPauses(t, test.want, test.want == lasting, func(r *http.Request) (*http.Response, error) {
					if test.status == 0 {
						return nil, errors.New("broken off")
					}
					return reply(r, test.status, `{"__type":"com.amazonaws.dynamodb.v20120810#`+test.code+`","message":"no"}`), nil
				})
			})
		})
	}
}

// checkPauses checks, by a clock that nobody waits for, how long it takes after
// a DescribeTable with an answer until there is another one, however much is
// written.
func checkPauses(t *testing.T, want time.Duration, lasting bool, answer httpClientFunc) {
	var lookups list[time.Time]
	log := &logbook{}
	p, err := middleware.New(mode(middleware.AnyWrite), log.option, seeds("http://127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	defer closePlugin(t, p)
	client := dynamodb.New(clientOptions(func(r *http.Request) (*http.Response, error) {
		switch operationOf(r) {
		case "":
			return reply(r, http.StatusOK, `["127.0.0.1"]`), nil
		case "DescribeTable":
			lookups.add(time.Now())
			return answer(r)
		}
		return reply(r, http.StatusOK, written), nil
	}), impatient(1), p.Attach)
	write := func() {
		t.Helper()
		out, err := client.BatchWriteItem(context.Background(), batch(writes{"orders": {put(item{"pk": str("a")})}}))
		if err != nil {
			t.Fatal(err)
		}
		if d := decision(t, out.ResultMetadata); d.Reason != middleware.ReasonNoVotes {
			t.Fatalf("routed with the reason %v", d.Reason)
		}
		synctest.Wait()
	}
	write()
	for range 2 {
		last := lookups.take()
		if len(last) != 1 {
			t.Fatalf("%d lookups, want 1", len(last))
		}
		for time.Since(last[0]) < want {
			write()
			time.Sleep(want / 10)
		}
		if n := lookups.len(); n != 0 {
			t.Fatalf("%d lookups within %v after the one before", n, want)
		}
		time.Sleep(time.Millisecond)
		write()
		if !lasting {
			want *= 2
		}
	}
	if lasting {
		log.wantLines(t, "writes to table orders are routed without affinity")
	} else {
		log.wantLines(t)
	}
}
