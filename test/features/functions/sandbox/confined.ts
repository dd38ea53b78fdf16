import test, { type TestFn } from 'ava'
import { type Confinement, confinement } from '#workers/features/functions/sandbox/runner/confinement.ts'

/** Set by `.ci/run`: a machine that lacks a confinement fails the tests that need it. Elsewhere they are skipped, by name. */
const isRequired = process.env.TEST_CONFINEMENT === 'required'

/** Declares a test that needs a confinement of the machine. */
export const needs = (name: keyof Confinement['holds']): TestFn | typeof test.skip =>
  isRequired || confinement().holds[name] ? test : test.skip
