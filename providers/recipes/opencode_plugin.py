"""The plugin that opencode runs for pam: it passes on, one at a time and in order, what says how a run gets on.

opencode tells its plugins hundreds of things a minute, the subagents' among them, and ends a turn that failed twice as
if it were well. What the recipe needs of that is kept here: the sessions that are a subagent's, the questions that are
open, how the turn went, and the tokens so far.
"""

from __future__ import annotations

import json
from collections.abc import Sequence


def plugin(command: Sequence[str]) -> bytes:
    """The module that starts ``command`` with a JSON object on its standard input for everything it passes on."""
    return _SOURCE.replace("[COMMAND]", json.dumps(list(command))).encode()


_SOURCE = r"""// Written by pam (project agent manager): it tells pam how a run gets on, nothing outside of one.
import { spawn } from "node:child_process"

const COMMAND = [COMMAND]
const PATIENCE_MS = 3000 // for one call of the command
const READY_MS = 300 // from the first sign of the screen to the input that takes a paste
const READY_AT_LAST_MS = 15000 // when that sign never comes
const USAGE_MS = 10000 // between two counts in the middle of a turn
const SHOWS = new Set(["plugin.added", "catalog.updated", "reference.updated"]) // what the screen's start brings about

// An opencode that the agent itself starts has the run's environment too; it is not the run.
function ofThisRun() {
  const { PAM_RUN: run, PAM_ATTEMPT: attempt, PAM_HEARD: heard } = process.env
  const own = `${run}/${attempt}/`
  if (!run || (heard?.startsWith(own) && heard !== own + process.pid)) return false
  process.env.PAM_HEARD = own + process.pid
  return true
}

function call(payload) {
  return new Promise((done) => {
    try {
      const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "ignore", "ignore"], detached: true })
      const late = setTimeout(() => (child.kill("SIGKILL"), done()), PATIENCE_MS)
      const over = () => (clearTimeout(late), done())
      child.on("error", over)
      child.on("exit", over)
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done()
    }
  })
}

export const Pam = async ({ client }) => {
  if (!ofThisRun()) return {}
  const parents = new Map() // session -> the session it is a subagent of, or ""
  const totals = new Map() // session -> its cost and tokens
  const context = new Map() // session -> its last answer: model, tokens
  const limits = new Map() // provider/model -> tokens its context holds
  const open = new Map() // permission or question -> how it was asked
  const bad = new Set() // sessions whose turn failed or was interrupted
  const finish = new Map() // session -> how its last answer ended
  const busy = new Set()
  const retrying = new Set()
  let tail = Promise.resolve()
  let counted = 0
  let shown = false

  const inTurn = (act) => (tail = tail.then(act).catch(() => {}))
  const send = (type, properties) => call({ type, ...properties })

  async function parentOf(id) {
    if (!parents.has(id)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      parents.set(id, found?.data?.parentID ?? "")
      if (found?.data) keep(found.data)
    }
    return parents.get(id)
  }

  async function rootOf(id) {
    for (let depth = 0; depth < 20; depth++) {
      const parent = await parentOf(id)
      if (!parent) break
      id = parent
    }
    return id
  }

  function keep(info) {
    if (!info?.id) return
    parents.set(info.id, info.parentID ?? "")
    if (info.tokens) totals.set(info.id, { cost: info.cost, tokens: info.tokens })
  }

  async function limitOf(name) {
    if (!limits.has(name)) {
      const found = await client.config.providers().catch(() => undefined)
      for (const { id: provider, models } of found?.data?.providers ?? [])
        for (const [id, model] of Object.entries(models ?? {})) limits.set(`${provider}/${id}`, model?.limit?.context)
      if (!limits.has(name)) limits.set(name, undefined)
    }
    return limits.get(name)
  }

  async function usage(root) {
    const sum = { input: 0, output: 0, reasoning: 0, read: 0, write: 0, cost: 0 }
    let known = false
    for (const [id, { cost, tokens }] of totals) {
      if (!(tokens.input || tokens.output || tokens.cache?.read) || (await rootOf(id)) !== root) continue
      known = true
      sum.input += tokens.input ?? 0
      sum.output += tokens.output ?? 0
      sum.reasoning += tokens.reasoning ?? 0
      sum.read += tokens.cache?.read ?? 0
      sum.write += tokens.cache?.write ?? 0
      sum.cost += cost ?? 0
    }
    const last = context.get(root)
    const totalled = known ? { totals: sum } : {}
    if (!last) return totalled
    const model = `${last.providerID}/${last.modelID}`
    return { ...totalled, model, limit: await limitOf(model), context: last.tokens }
  }

  function ready() {
    if (shown) return
    shown = true
    setTimeout(() => inTurn(() => send("pam.ready", { busy: busy.size > 0 })), READY_MS).unref?.()
  }
  setTimeout(ready, READY_AT_LAST_MS).unref?.()

  async function asked(type, question) {
    open.set(question.id, { type, question })
    await send(type, question)
  }

  async function answered(type, reply) {
    open.delete(reply.requestID ?? reply.permissionID ?? reply.id)
    const [next] = open.values()
    await (next ? send(next.type, next.question) : send(type, { sessionID: reply.sessionID, reply: reply.reply }))
  }

  async function begin(id) {
    const again = busy.has(id)
    busy.add(id)
    if (!again) bad.delete(id)
    if (retrying.delete(id) || !again) await send("session.status", { sessionID: id, status: { type: "busy" } })
  }

  async function end(id) {
    if (!busy.delete(id)) return // it says so twice after an error
    retrying.delete(id)
    forget(id)
    // A turn that stops with a tool it asked for was denied it.
    const ended = bad.has(id) ? "badly" : finish.get(id) === "tool-calls" ? "denied" : "well"
    await send("session.idle", { sessionID: id, ended })
  }

  async function count(id) {
    counted = Date.now()
    await send("pam.usage", { sessionID: id, usage: await usage(id) })
  }

  function forget(id) {
    for (const [key, { question }] of open) if (question.sessionID === id) open.delete(key)
  }

  const heard = {
    "session.created": async (p) => {
      keep(p.info)
      if (!p.info?.parentID) await send("session.created", { sessionID: p.info?.id, title: p.info?.title })
    },
    "session.updated": async ({ info }) => {
      const before = JSON.stringify(totals.get(info?.id))
      keep(info)
      const news = JSON.stringify(totals.get(info?.id)) !== before
      if (news && !busy.size) await count(await rootOf(info.id)) // the last answer is counted when the turn has ended
    },
    "session.status": async (p) => {
      if (await parentOf(p.sessionID)) return
      if (p.status?.type === "busy") await begin(p.sessionID)
      if (p.status?.type !== "retry") return
      retrying.add(p.sessionID)
      await send("session.status", p)
    },
    "session.idle": async (p) => {
      if (!(await parentOf(p.sessionID))) await end(p.sessionID)
    },
    "session.error": async (p) => {
      if (bad.has(p.sessionID) || (p.sessionID && (await parentOf(p.sessionID)))) return
      if (p.sessionID) bad.add(p.sessionID)
      forget(p.sessionID)
      await send("session.error", { sessionID: p.sessionID, error: p.error })
    },
    "message.updated": async ({ info }) => {
      if (info?.role !== "assistant" || !info.tokens || !info.time?.completed) return
      if (await parentOf(info.sessionID)) return
      finish.set(info.sessionID, info.finish)
      if (info.tokens.input || info.tokens.output) context.set(info.sessionID, info)
      if (Date.now() - counted >= USAGE_MS) await count(info.sessionID)
    },
    "permission.asked": (p) => asked("permission.asked", p),
    "permission.replied": (p) => answered("permission.replied", p),
    "question.asked": (p) => asked("question.asked", p),
    "question.replied": (p) => answered("question.replied", p),
    "question.rejected": (p) => answered("question.rejected", p),
  }

  return {
    event: async ({ event }) => {
      if (SHOWS.has(event?.type)) ready()
      const act = heard[event?.type]
      if (act && event.properties) inTurn(() => act(event.properties))
    },
    "chat.message": async ({ sessionID }) => {
      inTurn(async () => {
        if (await parentOf(sessionID)) return
        bad.delete(sessionID)
        busy.add(sessionID)
        counted = Date.now()
        await send("chat.message", { sessionID })
      })
    },
    dispose: async () => {
      await Promise.race([tail, new Promise((done) => setTimeout(done, 1000))])
    },
  }
}
"""
