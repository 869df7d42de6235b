package integration

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithymiddleware "github.com/aws/smithy-go/middleware"
)

// A tally is what writers have seen.
type tally struct{ calls, moves, failed, lost, undone int }

func (a *tally) add(b tally) {
	a.calls += b.calls
	a.moves += b.moves
	a.failed += b.failed
	a.lost += b.lost
	a.undone += b.undone
}

// A ledger is what one writer knows of an item that it alone writes, each time
// with a higher version.
//
// A write that was not answered was sent again, and the first copy may still be
// on its way when the second is acknowledged: a node that dies may carry out
// what it had begun. Of writes that set an item whatever it was, a late copy
// then undoes a newer one, as it would on a real cluster, which no client can
// tell and the plugin does not claim to prevent. So such an item may have gone
// back to a version that was sent more than once, and to no other. Items that
// are written on condition of their version never go back.
type ledger struct {
	key         types.AttributeValue
	conditional bool
	version     int   // the last one that was written
	resent      []int // versions that were sent more than once
}

type verdict string

const (
	kept   verdict = "kept"
	undone verdict = "undone"
	lost   verdict = "lost"
)

// judge says what became of the last acknowledged write to an item.
func (l *ledger) judge(found int) verdict {
	switch {
	case found == l.version:
		return kept
	case !l.conditional && found < l.version && slices.Contains(l.resent, found):
		return undone
	}
	return lost
}

func TestJudgement(t *testing.T) {
	for _, conditional := range []bool{false, true} {
		l := ledger{conditional: conditional, version: 7, resent: []int{3, 5}}
		for found, want := range map[int]verdict{0: lost, 3: undone, 4: lost, 5: undone, 6: lost, 7: kept, 8: lost} {
			if conditional && want == undone {
				want = lost
			}
			if got := l.judge(found); got != want {
				t.Errorf("conditional %v: version %d where 7 was written is %s, want %s", conditional, found, got, want)
			}
		}
	}
}

// A writer writes its own items in turn: some at a time by batches, and one at
// a time on condition of its version.
type writer struct {
	t      testing.TB
	client *dynamodb.Client
	batch  []*ledger
	single []*ledger
	seen   tally
}

// writers write until they are stopped.
type writers struct {
	t       testing.TB
	all     []*writer
	stopped chan struct{}
	running sync.WaitGroup
}

func startWriters(t testing.TB, client *dynamodb.Client) *writers {
	ws := &writers{t: t, stopped: make(chan struct{})}
	for i := range chaosWriters {
		w := &writer{t: t, client: client}
		for k := range chaosItems / chaosWriters {
			l := &ledger{key: str(fmt.Sprintf("writer-%d-item-%d", i, k)), conditional: k%2 == 0}
			if l.conditional {
				w.single = append(w.single, l)
			} else {
				w.batch = append(w.batch, l)
			}
		}
		ws.all = append(ws.all, w)
		ws.running.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ws.stopped:
					return
				default:
					w.turn(i)
				}
			}
		})
	}
	return ws
}

// stop returns what the writers have seen.
func (ws *writers) stop() *tally {
	close(ws.stopped)
	ws.running.Wait()
	total := &tally{}
	for _, w := range ws.all {
		total.add(w.seen)
	}
	return total
}

// readBack reads all items through another client.
func (ws *writers) readBack(client *dynamodb.Client, total *tally) {
	for _, w := range ws.all {
		w.client, w.seen = client, tally{}
		for _, l := range slices.Concat(w.batch, w.single) {
			if l.version > 0 {
				w.check(l)
			}
		}
		total.add(w.seen)
	}
}

// turn writes a batch and a single item, and reads one of the batch.
func (w *writer) turn(i int) {
	const size = 4
	var list []types.WriteRequest
	var written []*ledger
	for j := range size {
		l := w.batch[(i*size+j)%len(w.batch)]
		l.version++
		written = append(written, l)
		list = append(list, put(l.item()))
	}
	out, err := w.client.BatchWriteItem(context.Background(), batch(writes{"items": list}))
	if w.call(err) {
		w.moved(out.ResultMetadata, written...)
		w.check(written[i%size])
	}

	l := w.single[i%len(w.single)]
	l.version++
	single, err := w.client.PutItem(context.Background(), &dynamodb.PutItemInput{
		TableName: aws.String("items"), Item: l.item(),
		// Not less than: the item may have this version from a copy already.
		ConditionExpression:       aws.String("attribute_not_exists(version) OR version <= :version"),
		ExpressionAttributeValues: item{":version": num(strconv.Itoa(l.version))},
	})
	if w.call(err) {
		w.moved(single.ResultMetadata)
	}
}

func (l *ledger) item() item {
	return item{"pk": l.key, "version": num(strconv.Itoa(l.version))}
}

// call counts a call and reports whether it did not fail.
func (w *writer) call(err error) bool {
	w.seen.calls++
	if err != nil {
		w.seen.failed++
		if w.seen.failed <= 3 {
			w.t.Errorf("a call failed: %v", err)
		}
	}
	return err == nil
}

// moved counts the moves of a call and notes which items it sent more than once.
func (w *writer) moved(metadata smithymiddleware.Metadata, written ...*ledger) {
	moves := len(decision(w.t, metadata).Tried) - 1
	w.seen.moves += moves
	for _, l := range written {
		if moves > 0 {
			l.resent = append(l.resent, l.version)
		}
	}
}

// check reads an item and judges what it finds.
func (w *writer) check(l *ledger) {
	out, err := w.client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String("items"), Key: item{"pk": l.key}, ConsistentRead: aws.Bool(true)})
	if !w.call(err) {
		return
	}
	found := 0
	if n, ok := out.Item["version"].(*types.AttributeValueMemberN); ok {
		found, _ = strconv.Atoi(n.Value)
	}
	switch l.judge(found) {
	case undone:
		w.seen.undone++
	case lost:
		w.seen.lost++
		w.t.Errorf("%v has version %d, but %d was acknowledged", l.key, found, l.version)
	}
}
