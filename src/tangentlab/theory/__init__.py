"""Theorems as numbers: bounds, closed forms and predictions beside what is measured.

Each function states its formula, its convention and where a lecture slipped. Both sides
of the paper's Lemma 1 (`kernel_norm`) and Theorem 1 (`stein_sides`) are measured by the
stage of analysis and found here too.
"""

from ..analysis import KernelNorm as KernelNorm
from ..analysis import SteinSides as SteinSides
from ..analysis import kernel_norm as kernel_norm
from ..analysis import kernel_norm_bound as kernel_norm_bound
from ..analysis import stein_sides as stein_sides
from .adversary import GapSearch as GapSearch
from .adversary import search_gap as search_gap
from .arccosine import ReluKernels as ReluKernels
from .arccosine import arccosine_kernel as arccosine_kernel
from .arccosine import both_layers_kernel as both_layers_kernel
from .arccosine import deep_relu_kernels as deep_relu_kernels
from .arccosine import first_layer_kernel as first_layer_kernel
from .arccosine import one_dimensional_kernel as one_dimensional_kernel
from .arccosine import origin_kernel as origin_kernel
from .arccosine import relu_kernel_function as relu_kernel_function
from .complexity import rademacher_bound as rademacher_bound
from .complexity import rademacher_bound_by_norm as rademacher_bound_by_norm
from .complexity import rademacher_complexity as rademacher_complexity
from .convergence import descent_residual_norm as descent_residual_norm
from .convergence import flow_loss_bound as flow_loss_bound
from .convergence import sgd_gradient_bound as sgd_gradient_bound
from .convergence import sgd_steps as sgd_steps
from .eigenlearning import LearningCurve as LearningCurve
from .eigenlearning import PredictedRisk as PredictedRisk
from .eigenlearning import effective_regularization as effective_regularization
from .eigenlearning import learnability_ceiling as learnability_ceiling
from .eigenlearning import learning_curve as learning_curve
from .eigenlearning import predicted_risk as predicted_risk
from .estimates import MeanEstimate as MeanEstimate
from .estimates import SquaredMean as SquaredMean
from .estimates import squared_norm_of_mean as squared_norm_of_mean
from .flips import LargestGap as LargestGap
from .flips import flip_count as flip_count
from .flips import flip_count_bound as flip_count_bound
from .flips import gap_from_flips as gap_from_flips
from .flips import near_hinge_bound as near_hinge_bound
from .flips import near_hinge_count as near_hinge_count
from .flips import relu_largest_gap as relu_largest_gap
from .fluctuations import norm_fluctuation as norm_fluctuation
from .generalization import GeneralizationBound as GeneralizationBound
from .generalization import generalization_bound as generalization_bound
from .generalization import generalization_bound_above as generalization_bound_above
from .generalization import label_complexity as label_complexity
from .generalization import polynomial_complexity_limit as polynomial_complexity_limit
from .generalization import scale_free_complexity as scale_free_complexity
from .landscapes import chain_escape_time as chain_escape_time
from .landscapes import chain_gradient as chain_gradient
from .landscapes import chain_hessian as chain_hessian
from .landscapes import chain_loss as chain_loss
from .landscapes import linear_network_minimum as linear_network_minimum
from .landscapes import relu_unit_descent as relu_unit_descent
from .landscapes import relu_unit_loss as relu_unit_loss
from .landscapes import stuck_probability as stuck_probability
from .laziness import Laziness as Laziness
from .laziness import derivative_norm as derivative_norm
from .laziness import laziness_criterion as laziness_criterion
from .laziness import laziness_of as laziness_of
from .laziness import second_derivative_norm as second_derivative_norm
from .lazy_scaling import LazyScaling as LazyScaling
from .lazy_scaling import equivalent_weight_scale as equivalent_weight_scale
from .lazy_scaling import scaled_flows as scaled_flows
from .linearization import TANH_CURVATURE as TANH_CURVATURE
from .linearization import homogeneous_linearization as homogeneous_linearization
from .linearization import relu_linearization_bound as relu_linearization_bound
from .linearization import (
    relu_linearization_bound_between as relu_linearization_bound_between,
)
from .linearization import smooth_linearization_bound as smooth_linearization_bound
from .linearization import taylor_remainder as taylor_remainder
from .linearization import two_layer_linearization as two_layer_linearization
from .networks import doubled as doubled
from .networks import draw_two_layer as draw_two_layer
from .networks import two_layer as two_layer
from .networks import two_layer_both as two_layer_both
from .networks import two_layer_kernel as two_layer_kernel
from .quadrature import relu_expectation as relu_expectation
from .random_labels import permuted_complexities as permuted_complexities
from .random_labels import random_label_complexity as random_label_complexity
from .random_labels import random_label_floor as random_label_floor
from .risk import Modes as Modes
from .risk import leave_one_out_error as leave_one_out_error
from .risk import modes_of as modes_of
from .risk import risk_estimate as risk_estimate
from .sphere import harmonic_multiplicity as harmonic_multiplicity
from .sphere import universality_coefficients as universality_coefficients
from .sphere import with_constant_coordinate as with_constant_coordinate
from .sphere import zonal_eigenvalues as zonal_eigenvalues
from .sphere import zonal_energies as zonal_energies
from .split_alignment import alignment_estimate as alignment_estimate
